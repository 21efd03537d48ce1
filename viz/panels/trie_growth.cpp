// The numbers on drafts of a tree that grew node by node.
#include <algorithm>
#include <string>

#include "viz/draw/drawing.h"
#include "viz/panels/trie_picture.h"
#include "viz/query/draft_figures.h"

namespace triescope::viz {

void note_growth(TriePicture& picture, const Scene& scene) {
  picture.growth.clear();
  const std::int32_t step = scene.shown_step();
  if (step >= 0 && scene.cursor > capture::make_tick(step, capture::Phase::kDraft))
    picture.growth = growth_order(draft_figures(*scene.capture, step));
}

void draw_growth_number(Canvas& canvas, const TriePicture& picture, std::int32_t node, Rect box,
                        const Scene& scene) {
  const auto found = picture.growth.find(node);
  if (found == picture.growth.end()) return;
  const std::string number = std::to_string(found->second);
  TextStyle style = bold_text(scene, picture.view.drawn_zoom * 0.62f);
  style.color = scene.theme.background;
  const float height = picture.unit * 0.86f;
  const float width = std::max(height, canvas.measure(number, style).x + height * 0.6f);
  const Rect badge{box.right() - width * 0.5f, box.y - height * 0.52f, width, height};
  canvas.fill_rect(badge, scene.theme.text_dim, height / 2);
  text_in(canvas, badge, number, style, Align::kCenter);
}

}  // namespace triescope::viz

#include "viz/handout/pane_pictures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "viz/handout/hit_boxes.h"
#include "viz/handout/page_data.h"
#include "viz/handout/pane_plan.h"
#include "viz/handout/shared_list.h"
#include "viz/panels/panel.h"

namespace triescope::viz {
namespace {

constexpr float kEm = 14;
constexpr float kMarginPx = 4;

Scene scene_at(const PaneContext& context, const PaneView& view, const Theme& theme) {
  Scene scene;
  scene.capture = context.capture;
  scene.cursor = view.cursor;
  scene.range = view.range;
  scene.theme = theme;
  scene.em = kEm;
  scene.animate = false;
  scene.export_mode = true;
  scene.series = true;
  return scene;
}

// One area for all views, so that nothing jumps.
Rect area_of(const Panel& panel, const PaneShape& shape, const PaneContext& context,
             ElementCanvas& canvas) {
  Point most;
  if (shape.width == 0 || shape.height == 0)
    for (const PaneView& view : context.views) {
      const Point extent = panel.extent(canvas, scene_at(context, view, light_theme()));
      most = {std::max(most.x, extent.x), std::max(most.y, extent.y)};
    }
  // Lines break earlier: equally much text, and more line ends that stay empty.
  if (shape.flows) most.y = most.y * std::max(1.0f, most.x / (shape.width * kEm)) * 1.5f + 20 * kEm;
  if (shape.width > 0) most.x = shape.width * kEm;
  if (shape.height > 0) most.y = shape.height * kEm;
  return {0, 0, std::max(most.x, shape.head_width * kEm), most.y};
}

// The box that contains everything.
class Bounds {
 public:
  void add(std::span<const Element> elements) {
    for (const Element& element : elements) {
      if (element.kind == Element::Kind::kUnclip) continue;
      const Rect r = element.box;
      left_ = std::min(left_, r.x), top_ = std::min(top_, r.y);
      right_ = std::max(right_, r.right()), bottom_ = std::max(bottom_, r.bottom());
    }
  }
  std::string json() const {
    if (right_ < left_) return "[0,0,10,10]";
    const auto tenths = [](float px) { return std::to_string(std::lround(px * 10)); };
    return "[" + tenths(left_ - kMarginPx) + "," + tenths(top_ - kMarginPx) + "," +
           tenths(right_ - left_ + 2 * kMarginPx) + "," + tenths(bottom_ - top_ + 2 * kMarginPx) +
           "]";
  }

 private:
  float left_ = 1e9f, top_ = 1e9f, right_ = -1e9f, bottom_ = -1e9f;
};

struct Drawn {
  std::vector<Element> head, body;
};

// `head_px` > 0: the legend is drawn by itself, with that width. The body is drawn last, because
// the panel expects the mouse there.
Drawn drawn_by(Panel& panel, ElementCanvas& canvas, Rect area, float head_px, const Scene& scene) {
  Drawn out;
  if (head_px > 0) {
    panel.draw(canvas, {area.x, area.y, head_px, area.h}, scene);
    const std::size_t count = canvas.before_clips();
    out.head = canvas.take();
    out.head.resize(std::min(count, out.head.size()));
  }
  panel.draw(canvas, area, scene);
  const std::size_t count = head_px > 0 ? canvas.before_clips() : 0;
  out.body = canvas.take();
  out.body.erase(out.body.begin(),
                 out.body.begin() + static_cast<std::ptrdiff_t>(std::min(count, out.body.size())));
  return out;
}

std::string hit_json(const HitBox& hit) {
  std::string out = "[" + std::to_string(hit.node);
  for (const float px : {hit.box.x, hit.box.y, hit.box.w, hit.box.h})
    out += "," + std::to_string(std::lround(px * 10));
  return out + "]";
}

}  // namespace

std::string pane_json(const std::string& name, const PaneContext& context) {
  // A panel keeps what it laid out last, so one panel for each theme has less to do.
  const auto light = make_panel(name), dark = make_panel(name);
  const PaneShape shape = pane_shape(name);
  ElementCanvas canvas(*context.sizes);
  const Rect area = area_of(*light, shape, context, canvas);
  const float head_px = shape.head_width * kEm;

  SharedList elements, hits;
  Bounds bounds, head_bounds;
  std::string pictures, heads, marks;
  for (const PaneView& view : context.views) {
    const Scene in_light = scene_at(context, view, light_theme());
    const Drawn a = drawn_by(*light, canvas, area, head_px, in_light);
    const Drawn b = drawn_by(*dark, canvas, area, head_px, scene_at(context, view, dark_theme()));
    bounds.add(a.body);
    head_bounds.add(a.head);
    const char* const comma = pictures.empty() ? "" : ",";
    pictures += comma + elements.stretches(paired(a.body, b.body, *context.colors, *context.looks));
    if (head_px > 0)
      heads += comma + elements.stretches(paired(a.head, b.head, *context.colors, *context.looks));
    std::vector<std::string> boxes;
    for (const HitBox& hit : hit_boxes(*light, area, in_light, a.body)) {
      boxes.push_back(hit_json(hit));
      context.nodes->insert(hit.node);
    }
    marks += comma + hits.stretches(boxes);
    if (context.drawn) context.drawn();
  }
  const PanelInfo& info = light->info();
  std::string out = "{\"name\":" + script_string(info.name) +
                    ",\"title\":" + script_string(info.title) + ",\"box\":" + bounds.json();
  if (head_px > 0) out += ",\"head\":" + head_bounds.json() + ",\"heads\":[" + heads + "]";
  return out + ",\"pictures\":[" + pictures + "],\"marks\":[" + marks +
         "],\"elements\":" + elements.json() + ",\"hits\":" + hits.json() + "}";
}

}  // namespace triescope::viz

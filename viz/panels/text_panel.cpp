// Text: the text so far, per beam, every token coloured and underlined by how it came.
#include <algorithm>
#include <cstdint>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/page_scroll.h"
#include "viz/panels/panels.h"
#include "viz/panels/text_lines.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

class TextPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "text",
        "Text",
        "The text of every live beam (at the end: of the returned sequences), best first. "
        "A line under a token says how it came; what a beam says differently from the best is in "
        "its colour. What all of them begin with stands above them, once; a click on its heading "
        "shows it in each. ▲ and △ mark a token whose row is not as the tree asks. Click a token "
        "to lock it.",
        "Click a word that surprises you and ask what would have come after another one "
        "(Ctrl+I).",
        "No text yet: step once (F10).",
        /*rows=*/{"node", "frontier"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    drawn_ = {};
    scroll_.clear();
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const capture::Counts counts = scene.capture->counts();
    const Key key{
        scene.capture, scene.cursor,      counts.verdicts,  counts.sequences,
        area.w,        scene.em,          scene.theme.name, scene.twins ? scene.twins->version : 0,
        shared_once_,  scene.export_mode, scene.lit_from,   scene.capture->status()};
    if (!(key == key_)) lines_ = lay_out_text(canvas, area.w, scene, shared_once_);
    key_ = key;
    // Until the user scrolls, one text is followed to its end, and several begin behind the prompt.
    const float overflow = scene.export_mode ? 0 : std::max(0.0f, lines_.height - area.h);
    scroll_.fit(overflow, lines_.sequences == 1 ? overflow : lines_.text_top);
    // The scroll stops at whole lines: half a line under the panel's head, or at its bottom, cannot
    // be read.
    const float shown = overflow > 0 ? scroll_to_line(lines_, scroll_.at()) : scroll_.at();
    const float line = scene.em * kTextLineEm;
    const float bottom = shown + (overflow > 0 ? std::max(area.h, line) : area.h + line);
    drawn_ = {area.x, area.y - shown, area.w, lines_.height};
    if (!lines_.legend.empty() && shown < lines_.legend_height)
      draw_legend(canvas, {area.x + scene.em * 0.7f, drawn_.y + scene.em * 0.4f},
                  area.w - scene.em * 1.4f, lines_.legend, scene);
    // Spans go from top to bottom, so binary search finds the first one in sight.
    auto span = std::partition_point(lines_.spans.begin(), lines_.spans.end(),
                                     [&](const TextSpan& s) { return s.box.y < shown - 0.5f; });
    for (; span != lines_.spans.end() && span->box.bottom() <= bottom + 0.5f; ++span)
      draw_span(canvas, *span, {drawn_.x, drawn_.y}, scene);
    scroll_.draw_corners(canvas, area, std::max(line, area.h - line), shown > 0,
                         span != lines_.spans.end(), scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    const bool over_corner = scroll_.input(in, scene, reaction);
    if (in.fit) scroll_.follow();
    if (in.fold) shared_once_ = !shared_once_;
    if (!in.inside || !scene.capture) return reaction;
    reaction.hover = -1;
    if (over_corner) return reaction;
    if (in.clicked) reaction.lock = -1;
    for (const TextSpan& span : lines_.spans) {
      const Rect box{drawn_.x + span.box.x, drawn_.y + span.box.y, span.box.w, span.box.h};
      if (!box.contains(in.mouse)) continue;
      if (span.folds) {
        reaction.tooltip = {"what all of them begin with: once above them, or in each"};
        reaction.lock.reset();
        if (in.clicked) shared_once_ = !shared_once_;
        break;
      }
      if (span.node == -1) continue;
      reaction.hover = span.node;
      reaction.tooltip = node_tooltip(scene, span.node);
      if (in.clicked) reaction.lock = span.node;
      break;
    }
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float width = scene.em * 52;
    if (!scene.capture) return {width, scene.em * 6};
    return {width, lay_out_text(canvas, width, scene, shared_once_).height};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "sequence,score,finish,text\n";
    if (!scene.capture) return out.str();
    for (const TextSequence& sequence : sequences_of(scene)) {
      std::string text;
      for (const std::int32_t node : scene.capture->path_to(sequence.node))
        text += scene.capture->piece(scene.capture->nodes()[static_cast<std::size_t>(node)].token);
      out << csv_field(sequence.label) << ',' << csv_number(sequence.score) << ','
          << sequence.finish << ',' << csv_field(plain_text(text)) << '\n';
    }
    return out.str();
  }

  // "shared=each"
  std::string view_state() const override { return shared_once_ ? "" : "shared=each"; }
  void set_view_state(const std::string& state) override { shared_once_ = state != "shared=each"; }

 private:
  struct Key {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = -1;
    std::int64_t verdicts = -1, sequences = -1;
    float width = 0, em = 0;
    ThemeName theme = ThemeName::kDark;
    std::uint64_t twins = 0;
    bool shared_once = true, export_mode = false;
    capture::Tick lit_from = -1;
    capture::RunStatus status = capture::RunStatus::kRunning;  // its end may find faults
    bool operator==(const Key&) const = default;
  };

  PageScroll scroll_;
  bool shared_once_ = true;

  Key key_;  // the lines were laid out for this key
  TextLines lines_;
  Rect drawn_;  // where the text was drawn last
};

}  // namespace

std::unique_ptr<Panel> make_text_panel() { return std::make_unique<TextPanel>(); }

}  // namespace triescope::viz

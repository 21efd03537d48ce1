// Text: the text so far, per beam, every token coloured and underlined by how it came.
#include <algorithm>
#include <sstream>

#include "viz/draw.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kLineEm = 1.55f;
constexpr std::size_t kPromptTail = 60;  // prompt tokens shown before the text

class TextPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "text", "Text",
        "The text of every live beam (at the end: of the returned sequences), best first. "
        "Underlines say how a token came: accepted draft, bonus, plain. Click a token to lock it.",
        "No text yet: start a run."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    words_.clear();
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const float height = lay_out(&canvas, area, scene, scroll_);
    overflow_ = std::max(0.0f, height - area.h);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (in.inside && in.wheel != 0)
      scroll_ = std::clamp(scroll_ - in.wheel * scene.em * 3, 0.0f, overflow_);
    if (in.dragging) scroll_ = std::clamp(scroll_ - in.drag_delta.y, 0.0f, overflow_);
    if (in.fit) scroll_ = 0;
    if (!in.inside || !scene.capture) return reaction;
    reaction.hover = -1;
    for (const Word& word : words_) {
      if (!word.area.contains(in.mouse)) continue;
      reaction.hover = word.node;
      reaction.tooltip = node_tooltip(scene, word.node);
      if (in.clicked) reaction.lock = word.node;
      break;
    }
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    const float width = scene.em * 52;
    if (!scene.capture) return {width, scene.em * 6};
    TextPanel all;
    // Measured without drawing.
    struct Silent final : Canvas {
      Canvas& inner;
      explicit Silent(Canvas& c) : inner(c) {}
      void fill_rect(Rect, Color, float) override {}
      void stroke_rect(Rect, Color, float, LineStyle, float) override {}
      void line(Point, Point, Color, float, LineStyle) override {}
      void polyline(std::span<const Point>, Color, float, LineStyle) override {}
      void fill_polygon(std::span<const Point>, Color) override {}
      void bezier(Point, Point, Point, Point, Color, float, LineStyle) override {}
      void fill_circle(Point, float, Color) override {}
      void stroke_circle(Point, float, Color, float) override {}
      void text(Point, std::string_view, const TextStyle&) override {}
      Point measure(std::string_view t, const TextStyle& s) override { return inner.measure(t, s); }
      void push_clip(Rect) override {}
      void pop_clip() override {}
    } silent(canvas);
    return {width, all.lay_out(&silent, {0, 0, width, 1e6f}, scene, 0)};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "sequence,score,finish,text\n";
    if (!scene.capture) return out.str();
    for (const Sequence& sequence : sequences_of(scene)) {
      std::string text;
      for (const std::int32_t node : scene.capture->path_to(sequence.node))
        text += scene.capture->piece(scene.capture->nodes()[static_cast<std::size_t>(node)].token);
      out << csv_field(sequence.label) << ',' << sequence.score << ',' << sequence.finish << ','
          << csv_field(plain_text(text)) << '\n';
    }
    return out.str();
  }

 private:
  struct Sequence {
    std::string label, finish;
    float score = 0;
    std::int32_t node = 0;
    int rank = 0;
  };
  struct Word {
    Rect area;
    std::int32_t node;
  };

  static std::vector<Sequence> sequences_of(const Scene& scene) {
    std::vector<Sequence> result;
    const capture::Capture& capture = *scene.capture;
    // Once the run is over at the cursor, what was returned; before, the live beams.
    for (const capture::SequenceRow& row : capture.sequences())
      if (row.rank >= 0 && row.tick < scene.cursor)
        result.push_back({"returned " + std::to_string(row.rank + 1), row.finish, row.score,
                          row.node, row.rank});
    std::sort(result.begin(), result.end(),
              [](const Sequence& a, const Sequence& b) { return a.rank < b.rank; });
    if (!result.empty()) return result;
    for (const capture::FrontierRow& row : capture.frontier(capture.frontier_step(scene.cursor)))
      result.push_back({"beam " + std::to_string(row.rank + 1), "", row.score, row.node, row.rank});
    if (result.size() == 1) result[0].label = "text";
    return result;
  }

  // Draws (unless the canvas is silent) and returns the height of everything.
  float lay_out(Canvas* canvas, Rect area, const Scene& scene, float scroll) {
    const float em = scene.em, pad = em * 0.7f, line = em * kLineEm;
    const capture::Capture& capture = *scene.capture;
    float y = area.y + em * 0.4f - scroll;
    const float left = area.x + pad, right = area.right() - pad;
    TextStyle prompt_style = dim_text(scene, 1);
    float x = left;
    const auto put = [&](const std::string& text, TextStyle style, std::int32_t node,
                         const Mark* mark) {
      // Line breaks within a token are followed; the break itself is shown.
      std::string part;
      const auto flush = [&] {
        if (part.empty()) return;
        Point size = canvas->measure(part, style);
        if (x > left && x + size.x > right) {
          x = left;
          y += line;
          const auto first = part.find_first_not_of(' ');
          part = first == std::string::npos ? "" : part.substr(first);
          size = canvas->measure(part, style);
        }
        if (!part.empty() && y + line > area.y && y < area.bottom()) {
          const Rect box{x, y, size.x, line};
          if (node != -1 && scene.focus.node() == node)
            canvas->fill_rect(box, scene.theme.focus.with_alpha(0.18f), em * 0.15f);
          canvas->text({x, y + (line - size.y) / 2}, part, style);
          if (mark)
            canvas->line({x + 0.5f, y + line - 2}, {x + std::max(2.0f, size.x - 1), y + line - 2},
                         mark->color, mark->glyph == "★" ? 2.2f : 1.4f, mark->line);
          if (node != -1) words_.push_back({box, node});
        }
        x += size.x;
        part.clear();
      };
      for (const char c : text) {
        if (c == '\n') {
          part += "⏎";
          flush();
          x = left;
          y += line;
        } else {
          part += c;
        }
      }
      flush();
    };

    const auto& prompt = capture.run().prompt_tokens;
    const std::size_t first = prompt.size() > kPromptTail ? prompt.size() - kPromptTail : 0;
    if (first > 0) put("… ", prompt_style, -1, nullptr);
    for (std::size_t i = first; i < prompt.size(); ++i)
      put(plain_text(capture.piece(prompt[i])), prompt_style, -2 - static_cast<std::int32_t>(i),
          nullptr);
    x = left;
    y += line * 1.25f;

    for (const Sequence& sequence : sequences_of(scene)) {
      if (x > left) y += line;
      x = left;
      TextStyle label = bold_text(scene, 0.8f);
      label.color = scene.theme.beam(sequence.rank);
      std::string head = sequence.label;
      if (sequence.score == sequence.score) head += "   score " + number_text(sequence.score, 3);
      if (!sequence.finish.empty()) head += "   " + sequence.finish;
      if (y + line > area.y && y < area.bottom())
        text_in(*canvas, {left, y, right - left, line}, head, label);
      y += line * 0.95f;
      for (const std::int32_t node : capture.path_to(sequence.node)) {
        const capture::NodeState state = capture.state_at(node, scene.cursor);
        const Mark mark = scene.theme.mark(state);
        const bool special = state == capture::NodeState::kAccepted ||
                             state == capture::NodeState::kBonus ||
                             state == capture::NodeState::kCorrected;
        put(plain_text(capture.piece(capture.nodes()[static_cast<std::size_t>(node)].token)),
            ui_text(scene), node, special ? &mark : nullptr);
      }
      y += line * 1.25f;
      x = left;
    }
    return y + scroll - area.y;
  }

  float scroll_ = 0, overflow_ = 0;
  std::vector<Word> words_;
};

}  // namespace

std::unique_ptr<Panel> make_text_panel() { return std::make_unique<TextPanel>(); }

}  // namespace triescope::viz

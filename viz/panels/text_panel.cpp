// Text: the text so far, per beam, every token coloured and underlined by how it came.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#include "viz/draw.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kLineEm = 1.55f;
constexpr std::size_t kPromptTail = 60;  // prompt tokens shown before the text

// Measures and draws nothing.
class Silent final : public Canvas {
 public:
  explicit Silent(Canvas& canvas) : canvas_(canvas) {}
  void fill_rect(Rect, Color, float) override {}
  void stroke_rect(Rect, Color, float, LineStyle, float) override {}
  void line(Point, Point, Color, float, LineStyle) override {}
  void polyline(std::span<const Point>, Color, float, LineStyle) override {}
  void fill_polygon(std::span<const Point>, Color) override {}
  void bezier(Point, Point, Point, Point, Color, float, LineStyle) override {}
  void fill_circle(Point, float, Color) override {}
  void stroke_circle(Point, float, Color, float) override {}
  void text(Point, std::string_view, const TextStyle&) override {}
  Point measure(std::string_view t, const TextStyle& s) override { return canvas_.measure(t, s); }
  void push_clip(Rect) override {}
  void pop_clip() override {}

 private:
  Canvas& canvas_;
};

class TextPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "text", "Text",
        "The text of every live beam (at the end: of the returned sequences), best first. "
        "A line under a token says how it came; what a beam says differently from the best is in "
        "its "
        "colour. Click a token to lock it.",
        "No text yet: start a run."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    words_.clear();
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    Silent silent(canvas);
    const float height = lay_out(&silent, area, scene, 0);
    words_.clear();
    overflow_ = scene.export_mode ? 0 : std::max(0.0f, height - area.h);
    // Unless the user scrolled: one text is followed to its end, several begin behind the prompt.
    if (!scrolled_)
      shown_ = sequences_of(scene).size() == 1
                   ? overflow_
                   : std::min(overflow_, std::max(0.0f, text_top_ - scene.em * 0.4f));
    else
      shown_ = std::clamp(scroll_, 0.0f, overflow_);
    lay_out(&canvas, area, scene, shown_);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    const float move =
        (in.inside ? -in.wheel * scene.em * 3 : 0) - (in.dragging ? in.drag_delta.y : 0);
    if (move != 0) {
      scroll_ = std::clamp((scrolled_ ? scroll_ : shown_) + move, 0.0f, overflow_);
      scrolled_ = true;
    }
    if (in.fit) scrolled_ = false;
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
    Silent silent(canvas);
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
      out << csv_field(sequence.label) << ',' << csv_number(sequence.score) << ','
          << sequence.finish << ',' << csv_field(plain_text(text)) << '\n';
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
    const auto leaves = leaves_at(*scene.capture, scene.cursor);
    for (const Leaf& leaf : leaves)
      result.push_back({(leaf.returned          ? "returned "
                         : !leaf.finish.empty() ? "finished "
                                                : "beam ") +
                            std::to_string(leaf.rank + 1),
                        std::string(leaf.finish), leaf.score, leaf.node, leaf.rank});
    if (result.size() == 1 && result[0].finish.empty()) result[0].label = "text";
    return result;
  }

  // A character may be spread over several tokens: it is shown where its last byte is.
  struct Piece {
    std::int32_t node = 0;
    std::string text;
  };
  static std::vector<Piece> pieces_of(const Scene& scene, const std::vector<std::int32_t>& path) {
    const capture::Capture& capture = *scene.capture;
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < path.size();) {
      const auto bytes_of = [&](std::size_t k) {
        return std::string(capture.piece(capture.nodes()[static_cast<std::size_t>(path[k])].token));
      };
      std::string bytes = bytes_of(i);
      std::size_t used = 1;
      if (!is_whole(bytes)) {
        std::string joined = bytes;
        for (std::size_t k = 1; k < 4 && i + k < path.size(); ++k) {
          joined += bytes_of(i + k);
          if (!is_whole(joined)) continue;
          bytes = joined;
          used = k + 1;
          break;
        }
      }
      pieces.push_back(
          {path[i + used - 1], is_whole(bytes) ? plain_text(bytes) : token_text(bytes)});
      i += used;
    }
    return pieces;
  }
  static bool is_whole(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = utf8_length(bytes, at);
      if (length == 0) return false;
      at += length;
    }
    return true;
  }

  static bool begins_word(const std::string& text) {
    return text.empty() || text[0] == ' ' || text[0] == '\n';
  }

  // How a token came, if that is worth a line under it.
  static std::optional<Mark> mark_of(const capture::Capture& capture, std::int32_t node,
                                     const Scene& scene) {
    const capture::NodeState state = capture.state_at(node, scene.cursor);
    const capture::Source source = capture.nodes()[static_cast<std::size_t>(node)].source;
    if (state == capture::NodeState::kAccepted || state == capture::NodeState::kBonus ||
        state == capture::NodeState::kCorrected)
      return scene.theme.mark(state);
    if (capture::is_draft(source)) return scene.theme.mark(capture::NodeState::kAccepted);
    if (source == capture::Source::kSampled)
      return Mark{scene.theme.series(3), "", LineStyle::kDotted, "sampled"};
    if (source == capture::Source::kForced)
      return Mark{scene.theme.series(1), "", LineStyle::kDashed, "forced"};
    return std::nullopt;
  }

  // The lines that occur, named.
  static float draw_marks(Canvas& canvas, Point at, float width,
                          const std::vector<std::vector<std::int32_t>>& paths, const Scene& scene) {
    std::vector<LegendEntry> entries;
    for (const auto& path : paths)
      for (const std::int32_t node : path)
        if (const auto mark = mark_of(*scene.capture, node, scene);
            mark && std::none_of(entries.begin(), entries.end(), [&](const LegendEntry& entry) {
              return entry.label == mark->word;
            }))
          entries.push_back({std::string(mark->word), mark->color, "", mark->line});
    if (entries.empty()) return 0;
    return draw_legend(canvas, at, width, entries, scene) + scene.em * 0.4f;
  }

  // Draws (unless the canvas is silent) and returns the height of everything.
  float lay_out(Canvas* canvas, Rect area, const Scene& scene, float scroll) {
    const float em = scene.em, pad = em * 0.7f, line = em * kLineEm;
    const capture::Capture& capture = *scene.capture;
    float y = area.y + em * 0.4f - scroll;
    const auto sequences = sequences_of(scene);
    std::vector<std::vector<std::int32_t>> paths;
    for (const Sequence& sequence : sequences) paths.push_back(capture.path_to(sequence.node));
    y += draw_marks(*canvas, {area.x + pad, y}, area.w - 2 * pad, paths, scene);
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
        if (x == left || x + size.x > right) {
          if (x > left) y += line;
          x = left;
          const auto first = part.find_first_not_of(' ');
          part = first == std::string::npos ? "" : part.substr(first);
          size = canvas->measure(part, style);
        }
        if (!part.empty() && y + line > area.y && y < area.bottom()) {
          const Rect box{x, y, size.x, line};
          if (node != -1 && scene.focus.node() == node)
            canvas->fill_rect(box, scene.theme.focus.with_alpha(0.18f), em * 0.15f);
          canvas->text({x, y + (line - size.y) / 2}, part, style);
          // Spaces are visible: a faint dot each.
          const float space = canvas->measure(" ", style).x;
          for (std::size_t i = 0; i < part.size() && part[i] == ' '; ++i)
            canvas->fill_circle({x + (static_cast<float>(i) + 0.5f) * space, y + line * 0.52f},
                                std::max(0.7f, em * 0.055f), style.color.with_alpha(0.35f));
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

    text_top_ = y + scroll - area.y;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const Sequence& sequence = sequences[i];
      if (x > left) y += line;
      x = left;
      TextStyle label = bold_text(scene, 0.8f);
      label.color = scene.theme.legible(scene.theme.beam(sequence.rank));
      std::string head = sequence.label;
      if (sequence.score == sequence.score) head += "   score " + number_text(sequence.score, 3);
      if (!sequence.finish.empty()) head += "   " + sequence.finish;
      if (y + line > area.y && y < area.bottom())
        text_in(*canvas, {left, y, right - left, line}, head, label);
      y += line * 0.95f;
      // What the best does not say is in the beam's colour.
      std::size_t shared = 0;
      while (i > 0 && shared < paths[i].size() && shared < paths[0].size() &&
             paths[i][shared] == paths[0][shared])
        ++shared;
      const std::int32_t apart = i > 0 && shared < paths[i].size() ? paths[i][shared] : INT32_MAX;
      const auto pieces = pieces_of(scene, paths[i]);
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        const Piece& piece = pieces[k];
        TextStyle style = ui_text(scene);
        // A word of several tokens stays together.
        if (begins_word(piece.text) && x > left) {
          float word = canvas->measure(piece.text, style).x;
          for (std::size_t next = k + 1;
               next < pieces.size() && next < k + 12 && !begins_word(pieces[next].text); ++next)
            word += canvas->measure(pieces[next].text, style).x;
          if (x + word > right && word < right - left) {
            x = left;
            y += line;
          }
        }
        if (piece.node >= apart) style.color = label.color;
        const auto mark = mark_of(capture, piece.node, scene);
        put(piece.text, style, piece.node, mark ? &*mark : nullptr);
      }
      y += line * 1.25f;
      x = left;
    }
    return y + scroll - area.y;
  }

  float scroll_ = 0;       // the user's
  bool scrolled_ = false;  // else the panel follows
  float shown_ = 0, overflow_ = 0, text_top_ = 0;
  std::vector<Word> words_;
};

}  // namespace

std::unique_ptr<Panel> make_text_panel() { return std::make_unique<TextPanel>(); }

}  // namespace triescope::viz

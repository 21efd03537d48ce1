#include "viz/panels/text_lines.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/counted.h"
#include "viz/draw/fault_text.h"
#include "viz/panels/fault_head.h"
#include "viz/query/changes.h"
#include "viz/query/draft_match.h"
#include "viz/query/leaves.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr std::size_t kAroundMatch = 6;  // tokens shown on each side of a match further up
constexpr std::size_t kPromptTail = 60;  // prompt tokens shown before the text
// A head stands closer to its text than a text to the next head.
constexpr float kHeadLines = 0.85f, kGapLines = 1.2f;

Color found_color(FoundAs found, const Scene& scene) {
  return found == FoundAs::kMatch ? scene.theme.focus : scene.theme.accent;
}

bool is_whole(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// A character may be spread over several tokens; it is shown at the token of its last byte.
struct Piece {
  std::int32_t node = 0;
  std::string text;
  capture::RowMark fault = capture::RowMark::kNone;  // the gravest of its tokens
};
struct Token {
  std::int32_t node = 0, token = 0;
};
std::vector<Piece> pieces_of(const Scene& scene, const std::vector<Token>& path) {
  const capture::Capture& capture = *scene.capture;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < path.size();) {
    const auto bytes_of = [&](std::size_t k) { return std::string(capture.piece(path[k].token)); };
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
        {path[i + used - 1].node, is_whole(bytes) ? plain_text(bytes) : token_text(bytes)});
    for (std::size_t k = i; k < i + used; ++k)
      pieces.back().fault = std::max(pieces.back().fault, fault_mark(scene, path[k].node));
    i += used;
  }
  return pieces;
}
bool begins_word(const std::string& text) {
  return text.empty() || text[0] == ' ' || text[0] == '\n';
}

// A line under a token that shows how it came; nullopt where that is the ordinary way.
std::optional<Mark> mark_of(const capture::Capture& capture, std::int32_t node, const Scene& scene,
                            capture::Tick cursor) {
  const capture::NodeState state = capture.state_at(node, cursor);
  const capture::NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
  if (state == capture::NodeState::kAccepted || state == capture::NodeState::kBonus)
    return scene.theme.mark(state);
  if (state == capture::NodeState::kCorrected) {
    Mark mark = scene.theme.mark(state);
    mark.line = LineStyle::kDashed;  // a line has no glyph beside it
    return mark;
  }
  if (capture::is_draft(row)) return scene.theme.mark(capture::NodeState::kAccepted);
  if (row.source == capture::Source::kSampled)
    return Mark{scene.theme.series(3), "", LineStyle::kDotted, "sampled"};
  if (row.source == capture::Source::kForced)
    return Mark{scene.theme.series(1), "", LineStyle::kDashed, "forced"};
  return std::nullopt;
}

std::vector<Token> tokens_of(const capture::Capture& capture, const std::vector<std::int32_t>& path,
                             std::size_t first, std::size_t last) {
  std::vector<Token> tokens;
  for (std::size_t i = first; i < last; ++i)
    tokens.push_back({path[i], capture.nodes()[static_cast<std::size_t>(path[i])].token});
  return tokens;
}

// The number of tokens that all paths begin with. It ends at the end of a character.
std::size_t shared_by_all(const Scene& scene, const std::vector<std::vector<std::int32_t>>& paths) {
  if (paths.size() < 2) return 0;
  std::size_t shared = paths[0].size();
  for (const auto& path : paths)
    shared = static_cast<std::size_t>(
        std::mismatch(paths[0].begin(), paths[0].begin() + static_cast<std::ptrdiff_t>(shared),
                      path.begin(), path.end())
            .first -
        paths[0].begin());
  std::size_t whole = 0, at = 0;
  for (const Piece& piece :
       pieces_of(scene, tokens_of(*scene.capture, paths[0], 0, paths[0].size()))) {
    while (at < paths[0].size() && paths[0][at] != piece.node) ++at;
    if (++at <= shared) whole = at;
  }
  return whole;
}

// The marks that occur, with names. A steady picture names those of the whole run, so that the
// legend keeps its height.
std::vector<LegendEntry> legend_of(const std::vector<std::vector<std::int32_t>>& paths,
                                   const Scene& scene) {
  const capture::Capture& capture = *scene.capture;
  std::vector<LegendEntry> legend;
  const auto add = [&](std::int32_t node, capture::Tick cursor) {
    if (const auto mark = mark_of(capture, node, scene, cursor);
        mark && std::none_of(legend.begin(), legend.end(),
                             [&](const LegendEntry& entry) { return entry.label == mark->word; }))
      legend.push_back({std::string(mark->word), mark->color, "", mark->line});
  };
  if (scene.steady) {
    for (std::int32_t node = 1; node < static_cast<std::int32_t>(capture.nodes().size()); ++node)
      if (!is_dead(capture.state_at(node, capture.end_tick()))) add(node, capture.end_tick());
    legend.push_back(lit_entry(scene));
  } else {
    for (const auto& path : paths)
      for (const std::int32_t node : path) add(node, scene.cursor);
  }
  const auto is_marked = [&](capture::RowMark mark) {
    if (scene.steady) return has_fault_mark(scene, mark);
    return std::ranges::any_of(paths, [&](const std::vector<std::int32_t>& path) {
      return std::ranges::any_of(
          path, [&](std::int32_t node) { return fault_mark(scene, node) == mark; });
    });
  };
  add_node_fault_entries(legend, is_marked(capture::RowMark::kRecorded),
                         is_marked(capture::RowMark::kMissing), scene);
  if (scene.twins) legend.push_back({"the other run differs", scene.theme.difference, "≠"});
  return legend;
}

// Tokens [first, last) of path `i`.
template <class Put>
void put_sequence(Canvas& canvas, const Scene& scene,
                  const std::vector<std::vector<std::int32_t>>& paths, std::size_t i,
                  std::size_t first, std::size_t last, Color color, float& x, float& y, float left,
                  float right, const Put& put) {
  // Tokens that differ from the best text have the beam's colour.
  std::size_t shared = 0;
  while (i > 0 && shared < paths[i].size() && shared < paths[0].size() &&
         paths[i][shared] == paths[0][shared])
    ++shared;
  const std::int32_t apart = i > 0 && shared < paths[i].size() ? paths[i][shared] : INT32_MAX;
  const auto pieces = pieces_of(scene, tokens_of(*scene.capture, paths[i], first, last));
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const Piece& piece = pieces[k];
    TextStyle style = ui_text(scene);
    // The pieces of one word stay together.
    if (begins_word(piece.text) && x > left) {
      float word = canvas.measure(piece.text, style).x;
      for (std::size_t next = k + 1;
           next < pieces.size() && next < k + 12 && !begins_word(pieces[next].text); ++next)
        word += canvas.measure(pieces[next].text, style).x;
      if (x + word > right && word < right - left) {
        x = left;
        y += scene.em * kTextLineEm;
      }
    }
    if (piece.node >= apart) style.color = color;
    put(piece.text, style, piece.node, mark_of(*scene.capture, piece.node, scene, scene.cursor),
        piece.fault);
  }
}

}  // namespace

std::vector<TextSequence> sequences_of(const Scene& scene) {
  std::vector<TextSequence> result;
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

TextLines lay_out_text(Canvas& canvas, float width, const Scene& scene, bool shared_once) {
  TextLines lines;
  const float em = scene.em, left = em * 0.7f, right = width - left, line = em * kTextLineEm;
  const capture::Capture& capture = *scene.capture;
  const auto sequences = sequences_of(scene);
  lines.sequences = sequences.size();
  std::vector<std::vector<std::int32_t>> paths;
  for (const TextSequence& sequence : sequences) paths.push_back(capture.path_to(sequence.node));
  lines.legend = legend_of(paths, scene);
  const DraftMatch match = draft_match(capture, scene.cursor);
  std::unordered_map<std::int32_t, FoundAs> found;
  for (const std::int32_t node : match.behind) found[node] = FoundAs::kBehind;
  for (const auto* const nodes : {&match.earlier, &match.end})
    for (const std::int32_t node : *nodes) found[node] = FoundAs::kMatch;
  if (!match.empty()) {
    const bool is_here = !match.earlier.empty();
    lines.legend.push_back({is_here ? "stood here before" : "found in another text",
                            found_color(FoundAs::kMatch, scene), "■"});
    if (is_here)
      lines.legend.push_back({"drafted again", found_color(FoundAs::kBehind, scene), "■"});
  }
  const auto before =
      scene.lights() ? nodes_in_text(capture, scene.lit_from) : std::unordered_set<std::int32_t>();
  lines.legend_height = em * 0.4f;
  if (!lines.legend.empty())
    lines.legend_height += legend_height(canvas, right - left, lines.legend, scene) + em * 0.4f;

  float x = left, y = lines.legend_height;
  const auto put = [&](const std::string& text, const TextStyle& style, std::int32_t node,
                       const std::optional<Mark>& mark,
                       capture::RowMark fault = capture::RowMark::kNone) {
    // Line breaks within a token are followed, and the break itself is shown.
    std::string part;
    const auto flush = [&] {
      if (part.empty()) return;
      float room = canvas.measure(part, style).x;
      if (x == left || x + room > right) {
        if (x > left) y += line;
        x = left;
        const auto first = part.find_first_not_of(' ');
        part = first == std::string::npos ? "" : part.substr(first);
        room = canvas.measure(part, style).x;
      }
      const bool lit = scene.lights() && node > 0 && !before.contains(node);
      const auto at = found.find(node);
      if (!part.empty())
        lines.spans.push_back({{x, y, room, line},
                               part,
                               style,
                               node,
                               mark,
                               lit,
                               fault,
                               at == found.end() ? FoundAs::kNone : at->second});
      x += room;
      part.clear();
    };
    for (const char c : text) {
      if (c != '\n') {
        part += c;
        continue;
      }
      part += "⏎";
      flush();
      x = left;
      y += line;
    }
    flush();
  };

  const auto& prompt = capture.run().prompt_tokens;
  const std::size_t first = prompt.size() > kPromptTail ? prompt.size() - kPromptTail : 0;
  const auto put_prompt = [&](std::size_t from, std::size_t to) {
    if (from > 0) put("… ", dim_text(scene, 1), -1, {});
    std::vector<Token> shown;
    for (std::size_t i = from; i < to; ++i)
      shown.push_back({-2 - static_cast<std::int32_t>(i), prompt[i]});
    for (const Piece& piece : pieces_of(scene, shown))
      put(piece.text, dim_text(scene, 1), piece.node, {}, piece.fault);
  };
  // The drafts' place further up in the prompt, with a few tokens around it.
  if (!match.earlier.empty() && match.earlier.front() <= -2) {
    const auto begin = static_cast<std::size_t>(-2 - match.earlier.front());
    const std::size_t end = begin + match.earlier.size() + match.behind.size() + kAroundMatch;
    if (begin < first)
      put_prompt(begin > kAroundMatch ? begin - kAroundMatch : 0, std::min(end, first));
  }
  put_prompt(first, prompt.size());
  x = left;
  y += line * 1.25f;
  lines.text_top = y;
  const std::size_t shared = shared_by_all(scene, paths);
  const bool can_share = shared >= kLeastShared, once = can_share && shared_once;
  if (can_share) {
    const std::string of_all =
        counted(shared, "token") + " shared by all " + std::to_string(sequences.size());
    const std::string head =
        !scene.has_buttons() ? of_all : of_all + (once ? ": show in each" : ": show once");
    TextStyle style = dim_text(scene, 0.8f);
    if (once || scene.has_buttons()) {
      TextStyle link = style;
      if (scene.has_buttons()) link.color = scene.theme.legible(scene.theme.accent);
      lines.spans.push_back({.box = {left, y, canvas.measure(head, style).x, line},
                             .text = fit_text(canvas, head, link, right - left),
                             .style = link,
                             .folds = true});
      y += line * kHeadLines;
    }
    if (once) {
      put_sequence(canvas, scene, paths, 0, 0, shared, style.color, x, y, left, right, put);
      y += line * kGapLines;
      x = left;
    }
  }
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const TextSequence& sequence = sequences[i];
    TextStyle label = bold_text(scene, 0.8f);
    label.color = scene.theme.legible(scene.theme.beam(sequence.rank));
    std::string head = sequence.label;
    if (sequence.score == sequence.score)
      head += std::string(sequence.finish.empty() ? "   Σ log p " : "   final score ") +
              logprob_text(sequence.score);
    if (!sequence.finish.empty()) head += "   " + finish_text(sequence.finish);
    lines.spans.push_back(
        {{left, y, right - left, line}, fit_text(canvas, head, label, right - left), label});
    y += line * kHeadLines;
    if (once) put("… ", dim_text(scene, 1), -1, {});
    put_sequence(canvas, scene, paths, i, once ? shared : 0, paths[i].size(), label.color, x, y,
                 left, right, put);
    y += line * kGapLines;
    x = left;
  }
  lines.height = y;
  lines.tops.push_back(0);
  for (const TextSpan& span : lines.spans)
    if (span.box.y > lines.tops.back()) lines.tops.push_back(span.box.y);
  return lines;
}

float scroll_to_line(const TextLines& lines, float wanted) {
  const auto top = std::lower_bound(lines.tops.begin(), lines.tops.end(), wanted - 0.5f);
  return top == lines.tops.end() ? lines.tops.back() : *top;
}

void draw_span(Canvas& canvas, const TextSpan& span, Point top_left, const Scene& scene) {
  const float em = scene.em;
  const Rect box{top_left.x + span.box.x, top_left.y + span.box.y, span.box.w, span.box.h};
  if (span.node != -1 && scene.focus.node() == span.node)
    canvas.fill_rect(box, scene.theme.focus.with_alpha(0.18f), em * 0.15f);
  if (span.node >= 0 && scene.twins && scene.twins->differs_as_text(span.node)) {
    canvas.fill_rect(box, scene.theme.difference_tint(), em * 0.15f);
    if (std::ranges::count(scene.twins->partings, span.node) > 0)
      draw_glyph(canvas, "≠", {box.x + em * 0.36f, box.y + em * 0.08f}, em * 0.62f,
                 scene.theme.difference);
  }
  if (span.found != FoundAs::kNone)
    canvas.fill_rect(box, found_color(span.found, scene).with_alpha(0.24f), em * 0.15f);
  if (span.lit) {
    const float size = em * 0.5f;
    canvas.fill_rect(box, scene.theme.lit.with_alpha(0.16f), em * 0.15f);
    draw_glyph(canvas, "✦", {box.x + size * 0.2f, box.y + size * 0.2f}, size, scene.theme.lit);
  }
  if (span.fault != capture::RowMark::kNone) {
    canvas.fill_rect(box, scene.theme.fault.with_alpha(0.14f), em * 0.15f);
    draw_glyph(canvas, fault_glyph(span.fault), {box.right() - em * 0.24f, box.y + em * 0.16f},
               em * 0.5f, scene.theme.fault);
  }
  const float height = canvas.measure(span.text, span.style).y;
  canvas.text({box.x, box.y + (box.h - height) / 2}, span.text, span.style);
  if (span.node == -1) return;
  // Each space is shown as a faint dot.
  const float space = canvas.measure(" ", span.style).x;
  for (std::size_t i = 0; i < span.text.size() && span.text[i] == ' '; ++i)
    canvas.fill_circle({box.x + (static_cast<float>(i) + 0.5f) * space, box.y + box.h * 0.52f},
                       std::max(0.7f, em * 0.055f), span.style.color.with_alpha(0.35f));
  if (span.mark)
    canvas.line({box.x + 0.5f, box.bottom() - 2},
                {box.x + std::max(2.0f, box.w - 1), box.bottom() - 2}, span.mark->color,
                span.mark->glyph == "★" || span.mark->glyph == "◆" ? 2.2f : 1.4f, span.mark->line);
}

}  // namespace triescope::viz

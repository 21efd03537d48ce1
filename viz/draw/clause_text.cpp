#include "viz/draw/clause_text.h"

#include <vector>

#include "viz/draw/drawing.h"

namespace triescope::viz {
namespace {

// The places where clauses end, first to last.
std::vector<std::size_t> clause_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], before = i > 0 ? text[i - 1] : ' ',
               after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '\'' && !quoted && (before == ' ' || before == '('))
      quoted = true;
    else if (c == '\'' && quoted &&
             (after == ' ' || after == ',' || after == ';' || after == ')' || after == ':'))
      quoted = false;
    if (quoted) continue;
    if (depth == 0 && after == ' ' && (c == ',' || c == ';' || c == ':')) ends.push_back(i);
    if (depth == 0 && c == ' ' && after == '(') ends.push_back(i);
    depth += (c == '(') - (c == ')');
  }
  return ends;
}

}  // namespace

std::string clauses_in(Canvas& canvas, std::string_view text, const TextStyle& style, float width) {
  if (canvas.measure(text, style).x <= width) return std::string(text);
  const auto ends = clause_ends(text);
  for (auto end = ends.rbegin(); end != ends.rend(); ++end)
    if (std::string part = std::string(text.substr(0, *end)) + " …";
        canvas.measure(part, style).x <= width)
      return part;
  return fit_text(canvas, text.substr(0, ends.empty() ? text.size() : ends.front()), style, width);
}

}  // namespace triescope::viz

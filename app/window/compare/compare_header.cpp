#include "app/window/compare/compare_header.h"

#include <algorithm>

#include "core/base/counted.h"
#include "viz/text/number_text.h"

namespace triescope::app {

std::vector<HeaderFigure> header_figures(const viz::CompareFigures& own,
                                         const viz::CompareFigures& other) {
  std::string speed = "– tok/s";
  if (own.tokens_per_second) {
    speed = viz::number_text(*own.tokens_per_second, 1) + " tok/s";
    if (other.tokens_per_second && *own.tokens_per_second > *other.tokens_per_second)
      speed += ", " + viz::number_text(*own.tokens_per_second / *other.tokens_per_second, 2) + " ×";
  }
  return {
      {counted(own.tokens, "token"), "tokens of the text at the cursor", "00000 tokens", 4},
      {own.tokens_per_forward ? viz::number_text(*own.tokens_per_forward, 2) + " tok/fwd"
                              : "– tok/fwd",
       "tokens per forward of the target: all tokens that whole steps emitted by their forwards, "
       "prefill's among them",
       "00.00 tok/fwd", 1},
      {own.acceptance ? viz::number_text(100 * *own.acceptance, 0) + " % accepted" : "no drafts",
       "share of the drafts that were accepted, of whole steps", "000 % accepted", 2},
      {speed,
       "tokens emitted after prefill by the time of decoding, of whole steps; behind it, how many "
       "times the other run's",
       "00000.0 tok/s, 00.00 ×", 0},
      {viz::duration_text(static_cast<double>(own.decode_us)),
       "time of decoding up to the cursor: the phases after prefill, without the pauses between them",
       "000.00 ms", 5},
      {"peak KV " + std::to_string(own.peak_kv),
       "most KV slots that held a token at once, also within a step: live and garbage, prompt included",
       "peak KV 00000", 3},
      {counted(own.steps, "step"), "whole steps before the cursor, prefill included", "00000 steps",
       6},
      {counted(own.rows, "row"), "rows of all forwards after prefill", "000000 rows", 7}};
}

std::vector<std::optional<FigurePlace>> place_figures(std::span<const float> widths,
                                                      std::span<const HeaderFigure> figures,
                                                      float room, int lines) {
  std::vector<bool> kept(figures.size(), true);
  while (true) {
    std::vector<std::optional<FigurePlace>> places(figures.size());
    FigurePlace at;
    bool fits = true;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (!kept[i]) continue;
      if (at.x > 0 && at.x + widths[i] > room) at = {at.line + 1, 0};
      fits &= at.line < lines && at.x + widths[i] <= room;
      places[i] = at;
      at.x += widths[i];
    }
    if (fits) return places;
    std::size_t least = figures.size();
    for (std::size_t i = 0; i < figures.size(); ++i)
      if (kept[i] && (least == figures.size() || figures[i].rank > figures[least].rank)) least = i;
    if (least == figures.size()) return places;
    kept[least] = false;
  }
}

std::vector<std::string> difference_wordings(const FirstDifference& first) {
  const std::string prompts = first.prompts_differ ? "≠ the prompts differ;  " : "",
                    prompts_short = first.prompts_differ ? "≠ prompts;  " : "";
  if (first.count == 0)
    return {prompts + "= the two texts agree as far as both go", prompts + "= the texts agree",
            prompts_short + "= texts", first.prompts_differ ? "≠" : "="};
  const std::string token = std::to_string(first.token);
  const std::string at = " at token " + token,
                    steps = first.left + " (step " + std::to_string(first.left_step) + ")  |  " +
                            first.right + " (step " + std::to_string(first.right_step) + ")",
                    tokens = first.left + "  |  " + first.right;
  const bool many = first.count > 1;
  const std::string differences =
      many ? "≠ " + counted(first.count, "difference") + ", the first" : "≠ first";
  const std::string few = many ? "≠ " + std::to_string(first.count) + ", first" : "≠ first";
  return {prompts + differences + at + ": " + steps,
          prompts_short + few + at + ": " + steps,
          prompts_short + few + at + ": " + tokens,
          prompts_short + few + at,
          few + at,
          "≠ token " + token,
          "≠ " + token,
          "≠"};
}

}  // namespace triescope::app

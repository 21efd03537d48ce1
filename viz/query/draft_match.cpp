#include "viz/query/draft_match.h"

#include <algorithm>

#include "viz/query/draft_figures.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {
namespace {

constexpr std::size_t kMostMatched = 64;  // tokens, of the text's end

bool is_from_text(const capture::Capture& capture, const capture::NodeRow& node) {
  const auto drafters = capture.drafters();
  return node.drafter >= 0 && node.drafter < static_cast<std::int32_t>(drafters.size()) &&
         drafters[static_cast<std::size_t>(node.drafter)].kind == capture::DrafterKind::kText;
}

}  // namespace

DraftMatch draft_match(const capture::Capture& capture, capture::Tick cursor) {
  const std::vector<StepDraft> drafts = step_drafts(capture, capture::step_of(cursor), cursor);
  const auto nodes = capture.nodes();
  const auto row = [&](std::int32_t node) -> const capture::NodeRow& {
    return nodes[static_cast<std::size_t>(node)];
  };
  if (drafts.empty() || !is_from_text(capture, row(drafts.front().node))) return {};
  // The first path: of each level the first draft below the one before.
  std::vector<std::int32_t> drafted;
  std::int32_t above = drafts.front().frontier;
  for (const StepDraft& draft : drafts) {
    if (row(draft.node).parent != above) continue;
    drafted.push_back(row(draft.node).token);
    above = draft.node;
  }
  std::vector<std::int32_t> who, text;
  for (const std::int32_t token : capture.run().prompt_tokens) {
    who.push_back(-2 - static_cast<std::int32_t>(who.size()));
    text.push_back(token);
  }
  for (const std::int32_t node : capture.path_to(drafts.front().frontier)) {
    who.push_back(node);
    text.push_back(row(node).token);
  }
  if (drafted.empty() || text.size() < 2) return {};
  const FoundMatch told =
      found_match(draft_figures(capture, capture::step_of(cursor)), drafts.front().node);
  const auto part = [&](std::size_t from, std::size_t count) {
    const auto begin = who.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const std::size_t matched =
      std::min({text.size(), kMostMatched, static_cast<std::size_t>(told.tokens)});
  const auto found_elsewhere = [&] {
    return DraftMatch{.end = part(text.size() - matched, matched), .earlier = {}, .behind = {}};
  };
  if (matched > 0 && told.place >= 0) return found_elsewhere();
  // Place `at` has the first draft's token, and before it stand `same` tokens of the text's end.
  std::size_t best_at = 0, best = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] != drafted.front()) continue;
    std::size_t same = 0;
    while (same < kMostMatched && same < at && text[at - 1 - same] == text[text.size() - 1 - same])
      ++same;
    if (same == 0 || same < best) continue;
    best = same;
    best_at = at;
  }
  if (matched > best) return found_elsewhere();
  if (best == 0) return {};
  if (matched > 0) best = matched;
  std::size_t length = 0;
  while (length < drafted.size() && best_at + length < text.size() &&
         text[best_at + length] == drafted[length])
    ++length;
  return {.end = part(text.size() - best, best),
          .earlier = part(best_at - best, best),
          .behind = part(best_at, length)};
}

}  // namespace triescope::viz

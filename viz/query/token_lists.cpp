#include "viz/query/token_lists.h"

#include <algorithm>

#include "core/capture/metric_names.h"
#include "core/capture/row_types.h"

namespace triescope::viz {
namespace {

constexpr std::size_t kMostLists = 256, kMostTokens = 4096;  // a file's numbers

// Says of a list where it was found, and marks the tokens before its first draft as those that matched.
void add_match(TokenList& list, DraftFigures rows) {
  for (std::size_t i = 0; i < list.tokens.size(); ++i) {
    const std::int32_t node = list.tokens[i].node;
    if (node < 0) continue;
    list.match = found_match(rows, node);
    const auto matched = std::min(i, static_cast<std::size_t>(list.match.tokens));
    if (matched == 0) continue;
    for (std::size_t k = i - matched; k < i; ++k) list.tokens[k].matched = true;
    return;
  }
}

}  // namespace

std::string_view TokenList::table() const {
  const std::string_view all = title;
  const auto space = all.find_last_of(' ');
  const bool is_numbered = space != std::string_view::npos && space + 1 < all.size() &&
                           all.find_first_not_of("0123456789", space + 1) == std::string_view::npos;
  return is_numbered ? all.substr(0, space) : all;
}

std::vector<TokenList> token_lists(const capture::Capture& capture, std::int32_t step,
                                   capture::Tick cursor) {
  std::vector<TokenList> lists;
  if (step < 0 || cursor <= capture::make_tick(step, capture::Phase::kDraft)) return lists;
  const DraftFigures rows = draft_figures(capture, step);
  for (const capture::MetricRow& row : rows) {
    if (!row.name.starts_with(capture::kTokenList)) continue;
    const std::int64_t token = whole_figure(row.value, -1);
    if (token < 0 || token > capture::kMaxToken) continue;
    const std::string_view title = std::string_view(row.name).substr(capture::kTokenList.size());
    auto list = std::ranges::find(lists, title, &TokenList::title);
    if (list == lists.end()) {
      if (lists.size() == kMostLists) continue;
      list = lists.insert(lists.end(), {.title = std::string(title), .tokens = {}});
    }
    if (list->tokens.size() < kMostTokens)
      list->tokens.push_back({static_cast<std::int32_t>(token), row.node});
  }
  for (TokenList& list : lists) add_match(list, rows);
  return lists;
}

}  // namespace triescope::viz

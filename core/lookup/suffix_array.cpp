#include "core/lookup/suffix_array.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace triescope {

SuffixArray::SuffixArray(std::vector<std::int32_t> tokens, std::int32_t end_token)
    : tokens_(std::move(tokens)), end_token_(end_token), order_(tokens_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  const auto size = static_cast<std::int32_t>(tokens_.size());
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int32_t limit = std::min(kSortedTokens, size - std::max(a, b));
    for (std::int32_t i = 0; i < limit; ++i) {
      std::int32_t x = tokens_[static_cast<std::size_t>(a + i)];
      std::int32_t y = tokens_[static_cast<std::size_t>(b + i)];
      // The end of a document sorts like the end of the text: first.
      if (x == end_token_) x = -1;
      if (y == end_token_) y = -1;
      if (x != y) return x < y;
      if (x == -1) return a < b;
    }
    // The suffix that the text ended first sorts first; else the two are equal as far as they are
    // compared.
    if (limit < kSortedTokens) return a > b;
    return a < b;
  });
}

std::pair<std::size_t, std::size_t> SuffixArray::narrow(std::size_t low, std::size_t high,
                                                        int offset, std::int32_t token) const {
  const auto first_at_least = [&](std::size_t from, std::int32_t wanted) {
    std::size_t to = high;
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if (token_at(middle, offset) < wanted) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  };
  const std::size_t begin = first_at_least(low, token);
  return {begin, first_at_least(begin, token + 1)};
}

NgramTrie::Answer SuffixArray::continuations(std::span<const std::int32_t> context, int min_key,
                                             int max_key, int max_nodes, int max_depth,
                                             std::span<const std::int32_t> last_tokens) const {
  NgramTrie::Answer answer;
  max_key = std::min({max_key, kSortedTokens - 1, static_cast<int>(context.size())});
  if (max_nodes <= 0 || max_depth <= 0) return answer;

  struct Open {
    std::size_t low, high;  // the sorted suffixes that go through this node
    std::int32_t token, parent, depth;
    bool operator<(const Open& o) const {  // the largest range first, then the smallest token
      return high - low != o.high - o.low ? high - low < o.high - o.low : low > o.low;
    }
  };
  std::priority_queue<Open> open;
  int key = 0;
  const auto push_children = [&](std::size_t low, std::size_t high, std::int32_t parent,
                                 std::int32_t depth) {
    const int offset = key + depth - 1;
    if (offset >= kSortedTokens) return;
    while (low < high) {
      const std::int32_t token = token_at(low, offset);
      const auto [begin, end] = narrow(low, high, offset, token);
      if (token >= 0) open.push({begin, end, token, parent, depth});
      low = end;
    }
  };
  for (key = max_key; key >= min_key && open.empty(); --key) {
    std::size_t low = 0, high = order_.size();
    for (int i = 0; i < key && low < high; ++i)
      std::tie(low, high) =
          narrow(low, high, i, context[context.size() - static_cast<std::size_t>(key - i)]);
    push_children(low, high, -1, 1);
    if (!open.empty()) break;
  }
  if (open.empty()) return answer;
  answer.matched_tokens = key;
  while (!open.empty() && static_cast<int>(answer.nodes.size()) < max_nodes) {
    const Open best = open.top();
    open.pop();
    const auto index = static_cast<std::int32_t>(answer.nodes.size());
    answer.nodes.push_back(
        {best.token, best.parent, best.depth, static_cast<std::int32_t>(best.high - best.low)});
    if (best.depth < max_depth && std::ranges::find(last_tokens, best.token) == last_tokens.end())
      push_children(best.low, best.high, index, best.depth + 1);
  }
  return answer;
}

}  // namespace triescope

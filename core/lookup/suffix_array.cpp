#include "core/lookup/suffix_array.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "core/lookup/sort_suffixes.h"

namespace triescope {

SuffixArray::SuffixArray(std::vector<std::int32_t> tokens, std::int32_t end_token)
    : own_tokens_(std::move(tokens)), own_order_(own_tokens_.size()), end_token_(end_token) {
  ThreadPool one(1);
  sort_suffixes(own_tokens_, end_token_, kSortedTokens, own_order_, one);
  tokens_ = own_tokens_;
  order_ = own_order_;
}

SuffixArray::SuffixArray(std::span<const std::int32_t> tokens, std::span<const std::int32_t> order,
                         std::int32_t end_token, std::int32_t vocab_size)
    : tokens_(tokens), order_(order), end_token_(end_token), vocab_size_(vocab_size) {}

std::size_t SuffixArray::first_out_of_order() const {
  for (std::size_t i = 1; i < order_.size(); ++i)
    for (int offset = 0; offset < kSortedTokens; ++offset) {
      const std::int32_t before = token_at(i - 1, offset), here = token_at(i, offset);
      if (before > here) return i;
      if (before < here || here < 0) break;
    }
  return order_.size();
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

std::span<const std::int32_t> SuffixArray::around(std::size_t at, std::size_t before,
                                                  std::size_t after) const {
  std::size_t first = at, last = at;
  while (first > 0 && at - first < before && token_in_document(first - 1) >= 0) --first;
  while (last - at < after && token_in_document(last) >= 0) ++last;
  return tokens_.subspan(std::min(first, tokens_.size()), last - first);
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
    // An order that is not sorted may have an empty range at its end.
    answer.nodes.push_back({best.token, best.parent, best.depth,
                            static_cast<std::int32_t>(best.high - best.low),
                            best.low < order_.size() ? order_[best.low] : -1});
    if (best.depth < max_depth && std::ranges::find(last_tokens, best.token) == last_tokens.end())
      push_children(best.low, best.high, index, best.depth + 1);
  }
  return answer;
}

}  // namespace triescope

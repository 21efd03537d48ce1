#include "core/lookup/sort_suffixes.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

namespace triescope {
namespace {

// A place and two tokens of its suffix, each one more than its id: 0 stands for an end.
struct SuffixKey {
  std::uint64_t key;
  std::int32_t place;
  bool operator<(const SuffixKey& o) const { return key != o.key ? key < o.key : place < o.place; }
};

class SuffixSorter {
 public:
  SuffixSorter(std::span<const std::int32_t> tokens, std::int32_t end_token, int depth)
      : tokens_(tokens), end_token_(end_token), depth_(depth) {}

  // Sorts places that are equal in their first `known` tokens, none of which is an end.
  void sort(std::span<std::int32_t> places, int known, std::vector<SuffixKey>& scratch) const {
    std::vector<std::pair<std::span<std::int32_t>, int>> open = {{places, known}};
    while (!open.empty()) {
      const auto [part, from] = open.back();
      open.pop_back();
      if (part.size() < 2 || from >= depth_) {
        std::ranges::sort(part);
        continue;
      }
      scratch.clear();
      for (const std::int32_t place : part) scratch.push_back({key_at(place, from), place});
      if (!std::is_sorted(scratch.begin(), scratch.end()))
        std::sort(scratch.begin(), scratch.end());
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = scratch[i].place;
      for (std::size_t begin = 0; begin < part.size();) {
        std::size_t end = begin + 1;
        while (end < part.size() && scratch[end].key == scratch[begin].key) ++end;
        const bool ended = (scratch[begin].key & 0xFFFFFFFFu) == 0;
        if (end - begin > 1 && !ended)
          open.emplace_back(part.subspan(begin, end - begin), from + 2);
        begin = end;
      }
    }
  }
  std::uint32_t digit_at(std::size_t at) const {  // 0 = an end
    if (at >= tokens_.size() || tokens_[at] == end_token_) return 0;
    return static_cast<std::uint32_t>(tokens_[at]) + 1;
  }

 private:
  std::uint64_t key_at(std::int32_t place, int from) const {
    const std::size_t at = static_cast<std::size_t>(place) + static_cast<std::size_t>(from);
    const std::uint64_t first = digit_at(at);
    if (first == 0) return 0;
    // Beyond the depth all are equal.
    const std::uint64_t second = from + 1 < depth_ ? digit_at(at + 1) : 1;
    return first << 32 | second;
  }

  std::span<const std::int32_t> tokens_;
  std::int32_t end_token_;
  int depth_;
};

}  // namespace

void sort_suffixes(std::span<const std::int32_t> tokens, std::int32_t end_token, int depth,
                   std::span<std::int32_t> order, ThreadPool& pool,
                   const std::function<void(double)>& progress) {
  const SuffixSorter sorter(tokens, end_token, depth);
  // Where the bucket of each first token begins; ends of documents are the first bucket.
  std::vector<std::size_t> first = {0};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t digit = sorter.digit_at(i);
    if (first.size() < digit + 2) first.resize(digit + 2);
    ++first[digit + 1];
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::size_t> next(first.begin(), first.end());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    order[next[sorter.digit_at(i)]++] = static_cast<std::int32_t>(i);

  // The largest first, so that no thread is left with one at the end.
  std::vector<std::size_t> buckets;
  for (std::size_t b = 1; b + 1 < first.size(); ++b)
    if (first[b + 1] - first[b] > 1) buckets.push_back(b);
  std::ranges::stable_sort(buckets, [&](std::size_t a, std::size_t b) {
    return first[a + 1] - first[a] > first[b + 1] - first[b];
  });
  std::vector<std::vector<SuffixKey>> scratch(static_cast<std::size_t>(pool.size()));
  std::vector<std::exception_ptr> failed(scratch.size());  // a body of a loop must not throw
  std::atomic<std::size_t> done{0};
  std::atomic<bool> over{false};
  pool.for_tasks(static_cast<std::int64_t>(buckets.size()), [&](std::int64_t task, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    if (over) return;
    try {
      const std::size_t b = buckets[static_cast<std::size_t>(task)];
      const std::size_t size = first[b + 1] - first[b];
      sorter.sort(order.subspan(first[b], size), 1, scratch[w]);
      done += size;
      if (worker == 0 && progress)
        progress(static_cast<double>(done) / static_cast<double>(tokens.size()));
    } catch (...) {
      failed[w] = std::current_exception();
      over = true;
    }
  });
  for (const std::exception_ptr& failure : failed)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace triescope

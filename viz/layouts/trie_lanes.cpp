#include "viz/layouts/trie_lanes.h"

#include <algorithm>
#include <cstddef>

namespace triescope::viz {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// By row: the last column that is taken.
class Lanes {
 public:
  bool is_free(std::int32_t row, std::int32_t column) const {
    return index(row) >= last_.size() || last_[index(row)] < column;
  }
  // The row nearest to `row` that is free from `column` on.
  std::int32_t nearest(std::int32_t row, std::int32_t column) const {
    for (std::int32_t distance = 0;; ++distance) {
      if (row >= distance && is_free(row - distance, column)) return row - distance;
      if (is_free(row + distance, column)) return row + distance;
    }
  }
  void take(std::int32_t row, std::int32_t column) {
    if (index(row) >= last_.size()) last_.resize(index(row) + 1, -1);
    last_[index(row)] = std::max(last_[index(row)], column);
  }

 private:
  std::vector<std::int32_t> last_;
};

}  // namespace

std::vector<std::int32_t> trie_lanes(std::span<const std::int32_t> parents,
                                     std::span<const std::int64_t> births,
                                     std::span<const std::int32_t> behind) {
  const std::size_t count = parents.size();
  std::vector<std::int32_t> rows(count, 0), columns(count, 0), batch, others;
  std::vector<char> has_child(count, 0);
  Lanes lanes;
  const auto place = [&](std::int32_t item, std::int32_t row) {
    rows[index(item)] = row;
    lanes.take(row, columns[index(item)] + (behind.empty() ? 0 : behind[index(item)]));
  };
  if (count > 0) place(0, 0);
  for (std::size_t begin = 1, end = 1; begin < count; begin = end) {
    batch.clear();
    for (; end < count && births[end] == births[begin]; ++end) {
      columns[end] = columns[index(parents[end])] + 1;
      batch.push_back(static_cast<std::int32_t>(end));
    }
    std::stable_sort(batch.begin(), batch.end(), [&](std::int32_t a, std::int32_t b) {
      return columns[index(a)] < columns[index(b)];
    });
    for (auto at = batch.begin(); at != batch.end();) {
      const std::int32_t column = columns[index(*at)];
      others.clear();
      for (; at != batch.end() && columns[index(*at)] == column; ++at) {
        const std::size_t parent = index(parents[index(*at)]);
        const bool straight = has_child[parent] == 0 && lanes.is_free(rows[parent], column);
        has_child[parent] = 1;
        if (straight)
          place(*at, rows[parent]);
        else
          others.push_back(*at);
      }
      for (const std::int32_t item : others)
        place(item, lanes.nearest(rows[index(parents[index(item)])], column));
    }
  }
  return rows;
}

}  // namespace triescope::viz

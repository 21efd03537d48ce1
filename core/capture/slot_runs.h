// Sets of KV slots as ascending runs {first, last, first, last, …}, as `seen` rows hold them. A file may
// claim runs of millions of slots, so work goes by runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace triescope::capture {

using SlotRuns = std::vector<std::int32_t>;

// A set of slots that changes slot by slot.
class SlotSet {
 public:
  void clear() { runs_.clear(); }
  void add(std::int32_t slot) {
    auto next = runs_.upper_bound(slot);
    const bool has_before = next != runs_.begin();
    if (has_before && std::prev(next)->second >= slot) return;
    std::int32_t last = slot;
    if (next != runs_.end() && next->first == slot + 1) {
      last = next->second;
      next = runs_.erase(next);
    }
    if (has_before && std::prev(next)->second == slot - 1)
      std::prev(next)->second = last;
    else
      runs_.emplace_hint(next, slot, last);
  }
  void remove(std::int32_t slot) {
    const auto after = runs_.upper_bound(slot);
    if (after == runs_.begin()) return;
    const auto at = std::prev(after);
    const auto [first, last] = *at;
    if (last < slot) return;
    if (first == slot)
      runs_.erase(at);
    else
      at->second = slot - 1;
    if (last > slot) runs_.emplace(slot + 1, last);
  }
  SlotRuns runs() const {
    SlotRuns runs;
    for (const auto& [first, last] : runs_) runs.insert(runs.end(), {first, last});
    return runs;
  }

 private:
  std::map<std::int32_t, std::int32_t> runs_;  // last by first
};

// Calls visit(first, last) for each run of slots that are in `some` and not in `others`, ascending, until
// it returns false.
template <class Visit>
void for_each_run_without(std::span<const std::int32_t> some, std::span<const std::int32_t> others,
                          Visit visit) {
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < some.size(); i += 2) {
    std::int32_t first = some[i];
    const std::int32_t last = some[i + 1];
    while (at + 1 < others.size() && others[at + 1] < first) at += 2;
    for (std::size_t k = at; first <= last; k += 2) {
      if (k + 1 >= others.size() || others[k] > last) {
        if (!visit(first, last)) return;
        break;
      }
      if (others[k] > first && !visit(first, others[k] - 1)) return;
      first = std::max(first, others[k + 1] + 1);
    }
  }
}

inline bool holds_slot(std::span<const std::int32_t> runs, std::int32_t slot) {
  for (std::size_t low = 0, high = runs.size() / 2; low < high;) {
    const std::size_t middle = (low + high) / 2;
    if (slot < runs[2 * middle])
      high = middle;
    else if (slot > runs[2 * middle + 1])
      low = middle + 1;
    else
      return true;
  }
  return false;
}

// "0-15 18"; runs that touch are one.
inline std::string runs_text(std::span<const std::int32_t> runs) {
  std::string text;
  for (std::size_t i = 0; i + 1 < runs.size();) {
    std::size_t last = i + 1;
    while (last + 2 < runs.size() && runs[last + 1] == runs[last] + 1) last += 2;
    text += (text.empty() ? "" : " ") + std::to_string(runs[i]);
    if (runs[last] > runs[i]) text += "-" + std::to_string(runs[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace triescope::capture

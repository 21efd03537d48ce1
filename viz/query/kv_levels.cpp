#include "viz/query/kv_levels.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace triescope::viz {

using capture::Capture;
using capture::KvLevel;
using capture::Tick;

namespace {

// The levels of the ticks in [from, end).
std::span<const KvLevel> between(std::span<const KvLevel> levels, Tick from, Tick end) {
  const auto first = std::ranges::lower_bound(levels, from, {}, &KvLevel::tick);
  const auto last = std::ranges::lower_bound(levels, end, {}, &KvLevel::tick);
  return first < last ? std::span<const KvLevel>(first, last) : std::span<const KvLevel>();
}

std::optional<KvPeak> highest(std::span<const KvLevel> levels) {
  std::optional<KvPeak> peak;
  for (const KvLevel& level : levels)
    if (!peak || level.peak_live + level.garbage > peak->held())
      peak = {level.tick, level.peak_live, level.garbage};
  return peak;
}

}  // namespace

KvLevel kv_level_at(const Capture& capture, Tick cursor, capture::Whose whose) {
  const auto levels = capture.kv_levels(whose);
  const auto after = std::ranges::lower_bound(levels, cursor, {}, &KvLevel::tick);
  return after == levels.begin() ? KvLevel{} : *std::prev(after);
}

std::optional<KvPeak> kv_peak_of_step(const Capture& capture, std::int32_t step, Tick cursor,
                                      capture::Whose whose) {
  return kv_peak(capture, cursor, whose, std::pair{step, step});
}

std::optional<KvPeak> kv_peak(const Capture& capture, Tick cursor, capture::Whose whose,
                              StepRange steps) {
  const Tick from = steps ? capture::make_tick(steps->first, capture::Phase::kDraft) : 0;
  const Tick end = steps ? capture::make_tick(steps->second + 1, capture::Phase::kDraft) : cursor;
  std::optional<KvPeak> peak =
      highest(between(capture.kv_levels(whose), from, std::min(end, cursor)));
  // The cache's contents from earlier steps are held when the first step begins.
  if (const KvLevel carried = kv_level_at(capture, from, whose);
      cursor > from && carried.live + carried.garbage >= (peak ? peak->held() : 1))
    peak = {from, carried.live, carried.garbage};
  return peak;
}

}  // namespace triescope::viz

#include "viz/query/forward_costs.h"
#include "core/capture/run_fields.h"
#include "viz/query/step_range.h"
#include "viz/query/step_so_far.h"

#include <algorithm>

namespace triescope::viz {
namespace {

// Rows up to which RowCosts are added up; beyond, each costs as much as the last.
constexpr int kSummedRows = 257;

double median_time(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

ForwardCosts::ForwardCosts(const RowCosts& costs) {
  double sum = 0;
  for (int place = 0; place < kSummedRows; ++place)
    points_.emplace_back(place + 1, sum += costs.of(place));
}

double ForwardCosts::of(double rows) const {
  auto after = std::find_if(points_.begin(), points_.end(),
                            [&](const auto& one) { return one.first > rows; });
  after = std::clamp(after, points_.begin() + 1, points_.end() - 1);
  const auto& [x0, y0] = *std::prev(after);
  const auto& [x1, y1] = *after;
  return y0 + (rows - x0) * (y1 - y0) / (x1 - x0);
}

ForwardTimes forward_times(const capture::Capture& capture, capture::Tick cursor, StepRange range) {
  ForwardTimes times;
  for (const capture::PhaseRow& phase : capture.phases()) {
    if (phase.tick >= cursor) break;
    const std::int32_t step = capture::step_of(phase.tick);
    if (step == 0 || capture::phase_of(phase.tick) != capture::Phase::kForward) continue;
    if (!has_finished(step, cursor)) break;
    if (!is_within(range, step)) continue;
    if (const auto row = capture.step(step); row && row->forward_rows > 0)
      times[row->forward_rows].push_back(static_cast<double>(phase.duration_us));
  }
  return times;
}

void add_times(ForwardTimes& sum, const ForwardTimes& more) {
  for (const auto& [rows, times] : more)
    sum[rows].insert(sum[rows].end(), times.begin(), times.end());
}

std::optional<MeasuredForwards> measured_forwards(const ForwardTimes& times) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  int counts = 0;
  for (const auto& [rows, each] : times) {
    if (each.size() < kFewestForwards) continue;
    ++counts;
    const auto weight = static_cast<double>(each.size());
    const double at = rows - 1, median = median_time(each);
    n += weight, x += weight * at, y += weight * median;
    xx += weight * at * at, xy += weight * at * median;
  }
  if (counts < 2) return std::nullopt;
  const double row = std::max(0.0, (n * xy - x * y) / (n * xx - x * x));
  const double one = (y - row * x) / n;
  if (one <= 0) return std::nullopt;
  return MeasuredForwards{ForwardCosts({{1, 1}, {2, 1 + row / one}}), one,
                          static_cast<std::int64_t>(n)};
}

std::optional<RowCosts> recorded_row_costs(const capture::Capture& capture) {
  const auto found = capture::RunFields(capture.run().model_json).part("row_costs");
  if (found.empty()) return std::nullopt;
  RowCosts costs;
  const auto read = [&](const char* name, auto& member) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(found.number(name, member));
  };
  costs.cheap_rows = static_cast<int>(
      std::clamp<std::int64_t>(found.integer("cheap_rows", costs.cheap_rows), 0, 1 << 20));
  read("second_row", costs.second_row), read("cheap_row", costs.cheap_row);
  read("dear_row", costs.dear_row);
  read("of_experts", costs.of_experts), read("chosen", costs.chosen);
  return costs;
}

}  // namespace triescope::viz

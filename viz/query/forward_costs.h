// ForwardCosts: what a forward of the target costs by its number of rows, in forwards of one row
// (the unit of every cost here). They come from RowCosts, by which drafting methods decide and which
// a capture's model has, or from times: those of a run's own forwards, or of `triescope cost
// --measure`. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/row_costs.h"
#include "core/capture/capture.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

class ForwardCosts {
 public:
  ForwardCosts() : ForwardCosts(RowCosts{}) {}
  // C(n) = Σ_{place < n} costs.of(place). In a mixture of experts that counts the distinct experts that
  // n rows touch: of E experts, of which a row chooses a share c at random, n rows touch
  // E·(1 − (1 − c)^n).
  explicit ForwardCosts(const RowCosts& costs);
  // A line between these points and beyond the last. REQUIRES: two or more, each rows and cost, by
  // rows, from one row on.
  explicit ForwardCosts(std::vector<std::pair<double, double>> points)
      : points_(std::move(points)) {}

  double of(double rows) const;  // rows >= 1; a mean number of rows has a fraction
  double second_row() const { return of(2) - of(1); }

 private:
  std::vector<std::pair<double, double>> points_;
};

// The forwards of one or several runs after prefill: by number of rows their times in µs.
using ForwardTimes = std::map<std::int32_t, std::vector<double>>;
void add_times(ForwardTimes& sum, const ForwardTimes& more);
ForwardTimes forward_times(const capture::Capture& capture, capture::Tick cursor,
                           StepRange range = {});

// A straight line through the median times (least squares, each weighing as many forwards as it
// has), which never falls. nullopt: fewer than two numbers of rows with kFewestForwards each.
struct MeasuredForwards {
  ForwardCosts costs;
  double one_row_us = 0;
  std::int64_t forwards = 0;  // on which it rests
};
inline constexpr std::size_t kFewestForwards = 3;
std::optional<MeasuredForwards> measured_forwards(const ForwardTimes& times);

// The RowCosts of the model as the capture has them; nullopt: another program recorded it, or an
// older one.
std::optional<RowCosts> recorded_row_costs(const capture::Capture& capture);

}  // namespace triescope::viz

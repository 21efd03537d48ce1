// StepRange: the steps that figures are limited to, both included; empty = the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace triescope::viz {

using StepRange = std::optional<std::pair<std::int32_t, std::int32_t>>;

constexpr bool is_within(const StepRange& range, std::int32_t step) {
  return !range || (step >= range->first && step <= range->second);
}

// "steps 3 to 17". REQUIRES: a range.
inline std::string range_text(const StepRange& range) {
  return "steps " + std::to_string(range->first) + " to " + std::to_string(range->second);
}

}  // namespace triescope::viz

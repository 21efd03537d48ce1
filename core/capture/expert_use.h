// How many different experts the rows of a mixture's forward went through, beside what its first row went
// through, and the bytes of weights that it read for them. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "core/capture/records.h"

namespace triescope::capture {

// The model as the capture describes it; 0 = it does not say.
struct MixtureSize {
  std::int32_t experts = 0, used = 0;  // of a layer; of these, a row's
  double row_bytes = 0;                // of the weights that a forward of one row reads
  double expert_bytes = 0;             // of one expert in one layer
};

// Sums are over the layers that have experts.
struct ExpertStep {
  std::int32_t step = 0;
  std::int32_t rows = 0, layers = 0;
  std::int64_t read = 0;   // different experts that the rows go through together
  std::int64_t alone = 0;  // experts that its first row goes through
  double read_a_layer() const { return static_cast<double>(read) / layers; }
  double alone_a_layer() const { return static_cast<double>(alone) / layers; }
  bool operator==(const ExpertStep&) const = default;
};
// Sums up the rows of one step, given in the order of recording. layers 0: there are none.
ExpertStep expert_step(std::span<const ExpertRow> rows, std::int32_t step);

// Bytes of weights that the step's forward reads, and those that it would read for its first row alone.
// 0 = the capture does not say how large an expert is.
double bytes_read(const ExpertStep& step, const MixtureSize& size);
double bytes_alone(const ExpertStep& step, const MixtureSize& size);

// Different experts a layer that n rows go through on average if each row chose freely: E (1 - (1 - k/E)^n).
double experts_by_chance(const MixtureSize& size, std::int32_t rows);

}  // namespace triescope::capture

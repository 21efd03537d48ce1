// Which experts the rows of a mixture's forwards went through: how many different ones a step reads beside
// what one row reads, and what that costs. Steps after prefill; pure functions of a capture.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The model as the capture describes it; 0 = it does not say.
struct MixtureSize {
  std::int32_t experts = 0, used = 0;  // of a layer; of these, a row's
  double row_bytes = 0;                // of the weights that a forward of one row reads
  double expert_bytes = 0;             // of one expert in one layer
};
MixtureSize mixture_size(const capture::Capture& capture);

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
// By step, of the rows before `cursor`. Steps without such rows are left out.
std::vector<ExpertStep> expert_steps(const capture::Capture& capture, capture::Tick cursor);
// One of them; layers 0: it has no rows.
ExpertStep expert_step(const capture::Capture& capture, std::int32_t step, capture::Tick cursor);

// Bytes of weights that the step's forward reads, and those that it would read for its first row alone.
// 0 = the capture does not say how large an expert is.
double bytes_read(const ExpertStep& step, const MixtureSize& size);
double bytes_alone(const ExpertStep& step, const MixtureSize& size);

// Different experts a layer that n rows go through on average if each row chose freely: E (1 - (1 - k/E)^n).
double experts_by_chance(const MixtureSize& size, std::int32_t rows);

// What a node's row chose in its newest forward before `cursor`, layer by layer; empty: nothing is recorded.
std::vector<capture::ExpertRow> experts_of(const capture::Capture& capture, std::int32_t node,
                                           capture::Tick cursor);

}  // namespace triescope::viz

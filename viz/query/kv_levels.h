// How many KV slots a cache held, by tick: the memory panel, the KV panel and a comparison count
// these. A slot is held while it is live or garbage. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/capture/capture.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// The level at the cursor; all zero before the first slot was taken.
capture::KvLevel kv_level_at(const capture::Capture& capture, capture::Tick cursor,
                             capture::Whose whose = capture::Whose::kTarget);

// The most slots that were held at once.
struct KvPeak {
  capture::Tick tick = 0;  // the first tick at which it was reached
  std::int32_t live = 0, garbage = 0;
  std::int32_t held() const { return live + garbage; }
};
// Within a step, and within what the cursor has seen of steps [first, last]. Slots that hold a
// token when the first step begins count. nullopt: no slot was held there, or none recorded.
std::optional<KvPeak> kv_peak_of_step(const capture::Capture& capture, std::int32_t step,
                                      capture::Tick cursor, capture::Whose whose);
std::optional<KvPeak> kv_peak(const capture::Capture& capture, capture::Tick cursor,
                              capture::Whose whose = capture::Whose::kTarget, StepRange steps = {});

}  // namespace triescope::viz

// RowSource: the rows of one model: what its forwards read, its KV slots, its memory, its best
// tokens. Panels ask only through it for these rows, so that a draft model's are drawn like the
// target's. A value; thread-safe as far as the Capture is.
#pragma once

#include <cstdint>
#include <span>

#include "core/capture/capture.h"

namespace triescope::viz {

struct RowSource {
  capture::Whose whose = capture::Whose::kTarget;

  std::span<const capture::InputRow> inputs(const capture::Capture& capture,
                                            std::int32_t step) const {
    return capture.inputs(step, whose);
  }
  std::span<const capture::SlotRow> slot_events(const capture::Capture& capture,
                                                std::int32_t step) const {
    return capture.slot_events(step, whose);
  }
  std::span<const capture::MemoryRow> memory(const capture::Capture& capture) const {
    return capture.memory(whose);
  }
  std::span<const capture::CandidateRow> candidates(const capture::Capture& capture,
                                                    std::int32_t node, capture::Tick tick) const {
    return capture.candidates(node, tick, whose);
  }
  std::int32_t slot_count_at(const capture::Capture& capture, capture::Tick tick) const {
    return capture.slot_count_at(tick, whose);
  }
  capture::SlotView slot_at(const capture::Capture& capture, std::int32_t slot,
                            capture::Tick tick) const {
    return capture.slot_at(slot, tick, whose);
  }
  std::int32_t slot_of(const capture::Capture& capture, std::int32_t node,
                       capture::Tick tick) const {
    return capture.slot_of(node, tick, whose);
  }

  bool is_target() const { return whose == capture::Whose::kTarget; }
  // The phases in which the model reads its inputs and moves its slots. Both are the draft phase
  // for a model that drafts.
  capture::Phase forward_phase() const {
    return is_target() ? capture::Phase::kForward : capture::Phase::kDraft;
  }
  capture::Phase move_phase() const {
    return is_target() ? capture::Phase::kCommit : capture::Phase::kDraft;
  }
  // True where every beam's whole cache is copied, as in conventional beam search, so that no slots
  // are moved together.
  bool gathers(const capture::Capture& capture) const {
    return is_target() && capture.run().kv_policy == "batch";
  }
  // The number of slots whose KV was moved in the step, as far as the cursor has seen it.
  std::int64_t moved_in(const capture::Capture& capture, std::int32_t step,
                        capture::Tick cursor) const;
  std::span<const capture::KvLevel> levels(const capture::Capture& capture) const {
    return capture.kv_levels(whose);
  }
  // K and V of one token over all its layers, in bytes; 0 = the capture does not say.
  std::int64_t kv_bytes_per_token(const capture::Capture& capture) const;

  // The model's weights; 0 = the capture does not say.
  struct Weights {
    std::int64_t file_bytes = 0, parameters = 0;
  };
  Weights weights(const capture::Capture& capture) const;

  // Slots among the reserved ones that no token ever takes: the prefix that only a drafter's masks
  // see lies beside the target's KV.
  std::int64_t mask_prefix(const capture::Capture& capture) const;

  bool operator==(const RowSource&) const = default;
};

// Shown names: "target", "draft model", "draft head".
const char* owner_name(capture::Whose whose);

}  // namespace triescope::viz

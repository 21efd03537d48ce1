// RowSource: where a panel gets the rows that belong to a model: what its forwards read, which KV
// slots it holds, what it keeps in memory, its best tokens. A panel asks for these rows through it
// alone, so that a draft model's are drawn like the target's. A value, used like the Capture.
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
  // The phases in which it reads its inputs and moves its slots: for a model that drafts, both are
  // the draft phase.
  capture::Phase forward_phase() const {
    return is_target() ? capture::Phase::kForward : capture::Phase::kDraft;
  }
  capture::Phase move_phase() const {
    return is_target() ? capture::Phase::kCommit : capture::Phase::kDraft;
  }
  // Conventional beam search copies caches beam by beam; nothing is moved together.
  bool gathers(const capture::Capture& capture) const {
    return is_target() && capture.run().kv_policy == "batch";
  }
  // Slots whose KV was moved in the step, as far as the cursor has seen it.
  std::int64_t moved_in(const capture::Capture& capture, std::int32_t step,
                        capture::Tick cursor) const;
  std::span<const capture::KvLevel> levels(const capture::Capture& capture) const {
    return capture.kv_levels(whose);
  }
  // K and V of one token over all its layers, in bytes; 0 = the capture does not say.
  std::int64_t kv_bytes_per_token(const capture::Capture& capture) const;

  // Its weights, as far as the capture says: 0 = it does not.
  struct Weights {
    std::int64_t file_bytes = 0, parameters = 0;
  };
  Weights weights(const capture::Capture& capture) const;

  // Slots that the reserved ones include and no token ever takes: the prefix that a drafter's masks alone
  // see lies beside the target's KV.
  std::int64_t mask_prefix(const capture::Capture& capture) const;

  bool operator==(const RowSource&) const = default;
};

// For people: "target", "draft model", "draft head".
const char* owner_name(capture::Whose whose);

}  // namespace triescope::viz

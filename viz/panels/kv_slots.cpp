#include "viz/panels/kv_slots.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace triescope::viz {

using capture::SlotState;

KvSlots slots_at(const RowSource& source, const capture::Capture& capture, capture::Tick tick) {
  KvSlots c;
  c.used = source.slot_count_at(capture, tick);
  for (std::int32_t slot = 0; slot < c.used; ++slot) {
    const capture::SlotView view = source.slot_at(capture, slot, tick);
    c.live += view.state == SlotState::kLive;
    c.pending += view.state == SlotState::kLive && view.node > 0 &&
                 capture.state_at(view.node, tick) == capture::NodeState::kPending;
    c.garbage += view.state == SlotState::kGarbage;
    c.free += view.state == SlotState::kFree;
    c.moved += view.moved_this_step;
    c.reused += view.reused_this_step;
    if (view.node <= -2)
      ++c.prompt;
    else
      c.others.push_back(slot);
  }
  // The policy has reserved these slots beyond the used ones, as the last sample says.
  const auto memory = source.memory(capture);
  const auto after =
      std::partition_point(memory.begin(), memory.end(), [&](const capture::MemoryRow& row) {
        return capture::make_tick(row.step, capture::Phase::kCommit) < tick;
      });
  const std::int32_t allocated = after == memory.begin() ? 0 : std::prev(after)->reserved;
  c.mask_prefix = static_cast<int>(
      std::clamp<std::int64_t>(source.mask_prefix(capture), 0, std::max(allocated, 0)));
  const std::int32_t reserved = allocated - c.mask_prefix;
  for (std::int32_t slot = c.used; slot < reserved; ++slot) c.others.push_back(slot);
  c.reserved = std::max(0, reserved - c.used);
  return c;
}

std::vector<capture::SlotFault> faults_at(const RowSource& source, const capture::Capture& capture,
                                          capture::Tick tick) {
  if (tick <= 0) return {};
  auto faults = capture.row_faults().slots(capture::step_of(tick - 1), source.whose);
  std::erase_if(faults, [&](const capture::SlotFault& fault) { return fault.tick >= tick; });
  return faults;
}

std::string kv_csv(const RowSource& source, const Scene& scene) {
  std::ostringstream out;
  // A run whose KV is as the tree asks has no column `expected`.
  const bool says_expected =
      scene.capture && !scene.capture->row_faults().slot_steps(source.whose).empty();
  out << "slot,state,node,moved_from,reused" << (says_expected ? ",expected" : "") << '\n';
  if (!scene.capture) return out.str();
  static constexpr const char* kNames[] = {"free", "live", "garbage"};
  const auto name = [](std::int32_t node) {
    return node == -1   ? std::string()
           : node <= -2 ? "prompt " + std::to_string(-2 - node)
                        : std::to_string(node);
  };
  const auto faults = faults_at(source, *scene.capture, scene.cursor);
  for (std::int32_t slot = 0; slot < source.slot_count_at(*scene.capture, scene.cursor); ++slot) {
    const capture::SlotView view = source.slot_at(*scene.capture, slot, scene.cursor);
    out << slot << ',' << kNames[static_cast<std::size_t>(view.state)] << ',' << name(view.node)
        << ',' << (view.moved_this_step ? std::to_string(view.moved_from) : std::string()) << ','
        << view.reused_this_step;
    if (says_expected) {
      const auto fault = std::ranges::find(faults, slot, &capture::SlotFault::slot);
      out << ',' << name(fault == faults.end() ? view.node : fault->occupant);
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace triescope::viz

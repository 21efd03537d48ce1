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
  // Slots that the policy has reserved beyond the used ones, as the last sample says.
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

std::string kv_csv(const RowSource& source, const Scene& scene) {
  std::ostringstream out;
  out << "slot,state,node,moved_from,reused\n";
  if (!scene.capture) return out.str();
  static constexpr const char* kNames[] = {"free", "live", "garbage"};
  for (std::int32_t slot = 0; slot < source.slot_count_at(*scene.capture, scene.cursor); ++slot) {
    const capture::SlotView view = source.slot_at(*scene.capture, slot, scene.cursor);
    out << slot << ',' << kNames[static_cast<std::size_t>(view.state)] << ','
        << (view.node == -1   ? std::string()
            : view.node <= -2 ? "prompt " + std::to_string(-2 - view.node)
                              : std::to_string(view.node))
        << ',' << (view.moved_this_step ? std::to_string(view.moved_from) : std::string()) << ','
        << view.reused_this_step << '\n';
  }
  return out.str();
}

}  // namespace triescope::viz

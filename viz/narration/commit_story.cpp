// The commit phase: which KV was freed, and what the caches hold.
#include <algorithm>

#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

using capture::SlotAction;
using capture::SlotRow;
using capture::Whose;

const capture::MemoryRow* memory_of(const Story& story, Whose whose) {
  const auto rows = story.capture.memory(whose);
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), story.step,
      [](const capture::MemoryRow& row, std::int32_t step) { return row.step < step; });
  return found != rows.end() && found->step == story.step ? &*found : nullptr;
}

std::vector<SlotRow> events(const Story& story, SlotAction action) {
  std::vector<SlotRow> rows;
  for (const SlotRow& row : story.capture.slot_events(story.step))
    if (row.tick == story.tick && row.action == action) rows.push_back(row);
  return rows;
}

// Links each slot, and the node whose KV lay there.
Value slots(const Story& story, const std::vector<SlotRow>& rows) {
  std::vector<std::vector<Value>> items;
  for (const SlotRow& row : rows)
    items.push_back({ordinal("slot", row.slot,
                             {.kind = Target::Kind::kSlot, .id = row.slot, .node = row.node})});
  return story.list("slots", "item.slot", items);
}

void tell_slots(Story& story, const capture::MemoryRow* memory) {
  const auto freed = events(story, SlotAction::kFree), moved = events(story, SlotAction::kMove),
             garbage = events(story, SlotAction::kGarbage);
  const std::string& policy = story.capture.run().kv_policy;
  const bool gathered = policy == "batch";
  if (memory && memory->moved_bytes > 0 && (gathered || !moved.empty())) {
    const Value copied =
        bytes("bytes", static_cast<double>(memory->moved_bytes), to_panel("memory"));
    if (gathered) return story.say("commit.gathered", {copied});
    return story.say(
        "commit.collected",
        {count("moved", static_cast<std::int64_t>(moved.size()), to_panel("kv")), copied,
         count("freed", static_cast<std::int64_t>(freed.size()), to_panel("kv"))});
  }
  if (!freed.empty())
    story.say("commit.freed", {slots(story, freed)});
  else if (!garbage.empty())
    story.say(policy == "compact" ? "commit.garbage.compact" : "commit.garbage.keep",
              {slots(story, garbage)});
  else if (moved.empty())
    story.say("commit.nothing");
}

void tell_memory(Story& story, const capture::MemoryRow& memory) {
  Value live = count("live", memory.live, to_panel("memory")),
        reserved = count("reserved", memory.reserved, to_panel("memory"));
  if (memory.reserved == 0 &&
      memory.garbage == 0)  // a recorder that does not know what is reserved
    story.say("commit.memory.live", {std::move(live)});
  else if (memory.garbage > 0)
    story.say("commit.memory.garbage", {std::move(live), std::move(reserved),
                                        count("garbage", memory.garbage, to_panel("memory"))});
  else
    story.say("commit.memory", {std::move(live), std::move(reserved)});
  if (memory.batch_beam <= memory.greedy) return;
  const Value greedy = count("greedy", memory.greedy, to_panel("memory"));
  if (story.capture.run().kv_policy == "batch")
    story.say("commit.compare.batch", {greedy});
  else
    story.say("commit.compare", {greedy, count("batch", memory.batch_beam, to_panel("memory"))});
}

// Tells which nodes lost their last live text in this step, though the step gave them no verdict.
void tell_deaths(Story& story) {
  std::vector<std::vector<Value>> items;
  for (const capture::VerdictRow& row : verdicts_of(story, capture::Phase::kCommit))
    items.push_back({story.node("node", row.node)});
  if (!items.empty()) story.say("commit.died", {story.list("nodes", "item.node", items)});
}

}  // namespace

void tell_commit(Story& story) {
  const capture::MemoryRow* const memory = memory_of(story, Whose::kTarget);
  // Without recorded slots there is nothing to tell about them.
  if (!story.capture.inputs(story.step).empty()) tell_slots(story, memory);
  if (memory) tell_memory(story, *memory);
  tell_deaths(story);
  for (const Whose whose : {Whose::kDraft, Whose::kHead})
    if (const capture::MemoryRow* const own = memory_of(story, whose))
      story.say(whose == Whose::kDraft ? "commit.draft_model" : "commit.draft_head",
                {count("live", own->live, to_panel("memory"))});
}

}  // namespace triescope::viz

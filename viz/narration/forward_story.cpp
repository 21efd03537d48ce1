// The forward phase: which rows were read, their positions, what they see, and where their KV went.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/capture/row_faults.h"
#include "viz/narration/story.h"
#include "viz/query/expert_use.h"

namespace triescope::viz {
namespace {

using capture::InputRow;

void tell_prefill(Story& story) {
  const auto& tokens = story.capture.run().prompt_tokens;
  const auto prompt = static_cast<std::int64_t>(tokens.size());
  const auto last = static_cast<std::int32_t>(-1 - prompt);
  if (prompt == 1)
    story.say("forward.prefill.one", {story.node("node", last)});
  else
    story.say("forward.prefill",
              {count("prompt", prompt, to_panel("text")), ordinal("first", 0, to_node(-2)),
               ordinal("last", prompt - 1, to_node(last))});
  const auto inputs = story.capture.inputs(0);
  const auto branch = static_cast<std::int64_t>(inputs.size()) - prompt;
  if (branch > 0) story.say("forward.prefill.branch", {count("branch", branch, to_panel("text"))});
  if (inputs.size() > 1)
    story.say("forward.prefill.slots",
              {count("slots", static_cast<std::int64_t>(inputs.size()), to_panel("kv")),
               story.slot("first", inputs.front().slot), story.slot("last", inputs.back().slot)});
  else if (!inputs.empty())
    story.say("forward.prefill.slot", {story.slot("slot", inputs.front().slot)});
  story.say("forward.prefill.row",
            {story.node("node", branch > 0 && !inputs.empty() ? inputs.back().node : last)});
}

bool is_probe_row(const Story& story, const InputRow& row) {
  return row.node > 0 &&
         capture::is_probe(story.capture.nodes()[static_cast<std::size_t>(row.node)]);
}

void tell_rows(Story& story, std::span<const InputRow> inputs) {
  const InputRow& first = inputs.front();
  if (inputs.size() == 1) {
    story.say("forward.one", {story.node("node", first.node),
                              ordinal("position", first.position, to_node(first.node)),
                              story.slot("slot", first.slot)});
    return;
  }
  const auto rows = static_cast<std::int64_t>(inputs.size());
  const auto frontier = story.capture.frontier(story.step - 1);
  const auto pending = std::count_if(inputs.begin(), inputs.end(), [&](const InputRow& row) {
    return std::any_of(frontier.begin(), frontier.end(),
                       [&](const auto& leaf) { return leaf.node == row.node; });
  });
  const auto probes =
      std::ranges::count_if(inputs, [&](const InputRow& row) { return is_probe_row(story, row); });
  if (pending < rows) {
    const std::int64_t drafts = rows - pending - probes;
    story.say(
        probes == 0   ? "forward.drafts"
        : drafts == 0 ? "forward.probes"
                      : "forward.drafts.probes",
        {count("rows", rows, to_panel("mask")), count("pending", pending, to_panel("trie")),
         count("drafts", drafts, to_panel("verdict")), count("probes", probes, to_panel("trie"))});
    return;
  }
  std::vector<std::vector<Value>> items;
  for (const InputRow& row : inputs)
    items.push_back({story.node("node", row.node), story.slot("slot", row.slot)});
  story.say("forward.beams",
            {count("rows", rows, to_panel("mask")), story.list("tokens", "item.row", items, 3)});
}

void tell_sight(Story& story, const InputRow& row) {
  const auto prompt = static_cast<std::int64_t>(story.capture.run().prompt_tokens.size());
  // By the tree: a foreign recorder's position may be what is wrong.
  const std::int64_t path =
      row.node > 0 ? prompt + story.capture.nodes()[static_cast<std::size_t>(row.node)].depth
                   : row.position + 1;
  const std::int64_t window = story.capture.run().sliding_window;
  if (window > 0 && window < path)
    return story.say("forward.sees.window",
                     {story.node("node", row.node), count("sees", window, to_panel("mask"))});
  story.say(path == prompt + 1 ? "forward.sees.prompt" : "forward.sees",
            {story.node("node", row.node), count("sees", path, to_panel("mask")),
             count("prompt", prompt, to_panel("text")),
             count("below", path - prompt - 1, to_panel("trie"))});
}

// Tells the first pair of rows at one position.
void tell_siblings(Story& story, std::span<const InputRow> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t k = i + 1; k < inputs.size(); ++k)
      if (inputs[i].position == inputs[k].position)
        return story.say("forward.siblings",
                         {story.node("one", inputs[i].node), story.node("other", inputs[k].node),
                          ordinal("position", inputs[i].position, to_node(inputs[i].node))});
}

// Tells how many experts a mixture reads for several rows.
void tell_experts(Story& story) {
  const ExpertStep experts = expert_step(story.capture, story.step, story.cursor);
  if (experts.rows < 2) return;
  const MixtureSize size = mixture_size(story.capture);
  const double read = bytes_read(experts, size);
  const auto link = to_panel("experts");
  std::vector<Value> values = {number("different", experts.read_a_layer(), link, 2),
                               number("alone", experts.alone_a_layer(), link, 2),
                               count("rows", experts.rows, to_panel("mask"))};
  if (read > 0) {
    values.push_back(bytes("read", read, link));
    values.push_back(bytes("one", bytes_alone(experts, size), link));
  }
  story.say(read > 0 ? "forward.experts.bytes" : "forward.experts", std::move(values));
}

// The first of each fault in what the step's rows attended to.
void tell_sight_faults(Story& story, std::span<const InputRow> inputs) {
  const auto sights = story.capture.row_faults().sights(story.step, capture::Whose::kTarget);
  std::int64_t cells = 0, rows = 0;
  for (const auto& sight : sights) {
    cells += std::ssize(sight.faults);
    rows += !sight.faults.empty();
  }
  if (cells == 0) return;
  story.say("forward.fault.cells",
            {count("cells", cells, to_panel("mask")), count("rows", rows, to_panel("mask"))});
  bool extra = false, missing = false;
  for (std::size_t i = 0; i < sights.size(); ++i)
    for (const capture::SightFault& fault : sights[i].faults) {
      bool& is_told = capture::is_missing(fault.kind) ? missing : extra;
      if (std::exchange(is_told, true)) continue;
      const std::int32_t node = inputs[i].node;
      const auto relation = [&] {
        return word("relation", capture::sight_fault_text(story.capture, node, fault),
                    to_panel("mask"));
      };
      if (fault.kind == capture::SightFaultKind::kUnwritten)
        story.say("forward.fault.unwritten",
                  {story.node("node", node), story.slot("slot", fault.slot)});
      else if (fault.kind == capture::SightFaultKind::kNotItself)
        story.say("forward.fault.itself", {story.node("node", node)});
      else if (capture::is_missing(fault.kind))
        story.say("forward.fault.missing",
                  {story.node("node", node), story.node("missing", fault.occupant), relation()});
      else
        story.say("forward.fault.extra",
                  {story.node("node", node), story.node("seen", fault.occupant), relation()});
    }
}

bool is_as_asked(const Story& story, std::size_t row, const InputRow& input) {
  const capture::RowFaults& faults = story.capture.row_faults();
  return faults.sights(story.step, capture::Whose::kTarget)[row].faults.empty() &&
         faults.positions(capture::Whose::kTarget).is_right(input);
}

// Tells of rows that are recorded otherwise than the tree asks.
void tell_faults(Story& story, std::span<const InputRow> inputs) {
  const capture::RowFaults& faults = story.capture.row_faults();
  tell_sight_faults(story, inputs);
  const capture::RowPositions& positions = faults.positions(capture::Whose::kTarget);
  for (const InputRow& row : inputs)
    if (!positions.is_right(row)) {
      story.say(
          "forward.fault.position",
          {story.node("node", row.node), ordinal("position", row.position, to_panel("positions")),
           ordinal("expected", *positions.asked(row), to_panel("positions"))});
      break;
    }
  for (const capture::SlotFault& fault : faults.slots(story.step, capture::Whose::kTarget)) {
    if (fault.tick >= story.cursor) continue;
    if (fault.kind == capture::SlotFaultKind::kTwice)
      story.say("forward.fault.slot_twice",
                {story.node("one", fault.occupant), story.node("other", fault.by),
                 story.slot("slot", fault.slot)});
    else
      story.say("forward.fault.slot",
                {story.node("lost", fault.occupant), story.slot("slot", fault.slot),
                 story.node("needed", fault.needed_by),
                 ordinal("step", fault.needed_in,
                         to_step(capture::make_tick(fault.needed_in, capture::Phase::kForward)))});
    break;
  }
}

}  // namespace

void tell_forward(Story& story) {
  const auto inputs = story.capture.inputs(story.step);
  if (story.step == 0) {
    tell_prefill(story);
    return tell_faults(story, inputs);
  }
  if (inputs.empty()) return story.say("forward.unrecorded");
  tell_rows(story, inputs);
  tell_faults(story, inputs);
  // A probe has no place in the text; of a row that is not as the tree asks the rest would be wrong.
  std::vector<InputRow> of_text;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!is_probe_row(story, inputs[i]) && is_as_asked(story, i, inputs[i]))
      of_text.push_back(inputs[i]);
  if (of_text.empty()) return;
  tell_experts(story);
  tell_sight(story, of_text.back());
  tell_siblings(story, of_text);
  if (const InputRow& last = of_text.back(); last.naive_position != last.position)
    story.say("forward.naive", {story.node("node", last.node),
                                ordinal("naive", last.naive_position, to_panel("positions")),
                                ordinal("position", last.position, to_node(last.node))});
  std::vector<std::vector<Value>> reused;
  for (const capture::SlotRow& row : story.capture.slot_events(story.step))
    if (row.tick == story.tick && row.action == capture::SlotAction::kReuse)
      reused.push_back({story.slot("slot", row.slot)});
  if (!reused.empty()) {
    Value slots = story.list("slots", "item.slot", reused);
    story.say("forward.reused", {std::move(slots)});
  }
}

}  // namespace triescope::viz

#include "viz/draw/fault_text.h"

#include <algorithm>

#include "viz/draw/node_text.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz {

using capture::SightFaultKind;

std::string occupant_text(const Scene& scene, std::int32_t occupant) {
  if (occupant == -1) return "a slot that nothing was written to";
  if (occupant <= -2)
    return "prompt token " + std::to_string(-2 - occupant) + " (" + node_text(scene, occupant) +
           ")";
  if (occupant == 0) return "the prompt";
  const auto nodes = scene.capture->nodes();
  const bool is_draft = occupant < static_cast<std::int32_t>(nodes.size()) &&
                        capture::is_draft(nodes[static_cast<std::size_t>(occupant)]);
  return (is_draft ? "draft " : "") + node_text(scene, occupant);
}

std::string sight_text(const Scene& scene, const capture::InputRow& row,
                       const capture::SightFault& fault) {
  if (fault.kind == SightFaultKind::kNotItself) return "does not see itself";
  const std::string who = occupant_text(scene, fault.occupant);
  if (fault.kind == SightFaultKind::kUnwritten) return "sees " + who;
  return (capture::is_missing(fault.kind) ? "does not see " : "sees ") + who + " (" +
         capture::sight_fault_text(*scene.capture, row.node, fault) + ")";
}

std::string asked_sight_text(const Scene& scene, const capture::InputRow& row) {
  const std::int32_t window =
      row.whose == capture::Whose::kTarget ? scene.capture->run().sliding_window : 0;
  std::string text = row.node > 0 ? "the tree asks for the prompt, its ancestors and itself"
                                  : "the tree asks for the prompt up to itself";
  if (window > 0) text += ", within a window of " + std::to_string(window);
  return text;
}

std::string sights_text(const Scene& scene, const capture::InputRow& row,
                        std::span<const capture::SightFault> faults, std::size_t most) {
  if (faults.empty()) return "";
  std::string text;
  for (const bool missing : {false, true}) {
    std::size_t told = 0, count = 0;
    std::string part;
    for (const capture::SightFault& fault : faults) {
      if (capture::is_missing(fault.kind) != missing) continue;
      if (++count > most && faults.size() > most + 1) continue;
      part += (part.empty() ? "" : ", ") + sight_text(scene, row, fault);
      ++told;
    }
    if (count > told) part += " and " + std::to_string(count - told) + " more";
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  return text + "; " + asked_sight_text(scene, row);
}

std::string position_text(const Scene& scene, const capture::InputRow& row, std::int32_t asked) {
  const std::int32_t less = scene.capture->position_of(row.node) - asked;
  std::string formula = row.node > 0 ? "prompt tokens + depth − " + std::to_string(1 + less)
                                     : "its place in the prompt";
  if (row.node <= 0 && less != 0) formula += " − " + std::to_string(less);
  return "stands at position " + std::to_string(row.position) + "; the tree asks for " +
         std::to_string(asked) + " = " + formula;
}

std::string slot_text(const Scene& scene, const capture::SlotFault& fault) {
  return capture::slot_fault_text(fault, [&](std::int32_t occupant) {
    return (occupant > 0 ? "node " + std::to_string(occupant) + " " : "") +
           occupant_text(scene, occupant);
  });
}

std::vector<std::string> row_fault_lines(const Scene& scene, std::int32_t node,
                                         capture::Whose whose) {
  const capture::Capture& capture = *scene.capture;
  const capture::RowFaults& faults = capture.row_faults();
  std::vector<std::string> lines;
  const std::span<const std::int32_t> steps[] = {
      faults.sight_steps(whose), faults.position_steps(whose), faults.slot_steps(whose)};
  if (std::ranges::all_of(steps, [](const auto& one) { return one.empty(); })) return lines;
  const capture::Phase phase =
      whose == capture::Whose::kTarget ? capture::Phase::kForward : capture::Phase::kDraft;
  const auto forwards = capture.forwards(whose);
  for (auto at = forwards.rbegin(); at != forwards.rend(); ++at) {
    if (capture::make_tick(at->step, phase) >= scene.cursor) continue;
    const auto rows = capture.inputs(at->step, whose);
    // The last one, where the node has several rows in a step.
    const auto last =
        std::find_if(rows.rbegin(), rows.rend(), [&](const auto& row) { return row.node == node; });
    if (last == rows.rend()) continue;
    const auto sights = faults.sights(at->step, whose);
    const auto& sight = sights[static_cast<std::size_t>(rows.rend() - last) - 1];
    if (!sight.faults.empty()) lines.push_back(sights_text(scene, *last, sight.faults));
    if (const auto asked = faults.positions(whose).asked(*last); asked && *asked != last->position)
      lines.push_back(position_text(scene, *last, *asked));
    break;
  }
  for (const std::int32_t step : faults.slot_steps(whose)) {
    if (step > scene.shown_step()) break;
    for (const capture::SlotFault& fault : faults.slots(step, whose))
      if (fault.tick < scene.cursor && (fault.occupant == node || fault.by == node))
        lines.push_back(slot_text(scene, fault));
  }
  return lines;
}

std::vector<std::string> all_fault_lines(const Scene& scene, std::int32_t node) {
  std::vector<std::string> lines;
  for (const capture::Whose whose : scene.capture->owners())
    for (const std::string& line : row_fault_lines(scene, node, whose))
      lines.push_back(whose == capture::Whose::kTarget ? line
                                                       : drafter_name(whose) + "'s row: " + line);
  return lines;
}

capture::RowMark fault_mark(const Scene& scene, std::int32_t node) {
  const capture::RowFaults& faults = scene.capture->row_faults();
  auto gravest = capture::RowMark::kNone;
  for (int i = 0; i < capture::kWhoseCount; ++i)
    gravest = std::max(gravest, faults.mark(node, scene.cursor, static_cast<capture::Whose>(i)));
  return gravest;
}

bool has_fault_mark(const Scene& scene, capture::RowMark mark) {
  const capture::Tick until = scene.steady ? scene.capture->end_tick() : scene.cursor;
  const capture::RowFaults& faults = scene.capture->row_faults();
  for (int i = 0; i < capture::kWhoseCount; ++i)
    if (faults.has_mark(mark, until, static_cast<capture::Whose>(i))) return true;
  return false;
}

std::string_view fault_glyph(capture::RowMark mark) {
  switch (mark) {
    case capture::RowMark::kNone:
      return "";
    case capture::RowMark::kMissing:
      return "△";
    case capture::RowMark::kRecorded:
      return "▲";
  }
  return "";
}

}  // namespace triescope::viz

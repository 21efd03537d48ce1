// Dialogs about the run: where it stops, and what it would be with another token.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/window/ui_dialogs.h"
#include "viz/questions/beam_decision.h"
#include "viz/words/token_text.h"

namespace triescope::app {

bool draw_breakpoints(Ui& ui) {
  std::vector<Breakpoint> points = ui.workspace.breakpoints;
  bool changed = false;
  if (points.empty())
    ImGui::TextDisabled("None yet. Running stops after the phase in which one is hit.");
  for (std::size_t i = 0; i < points.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    changed |= ImGui::Checkbox("##on", &points[i].enabled);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(describe({points[i].kind, points[i].threshold, true}).c_str());
    if (needs_threshold(points[i].kind)) {
      ImGui::SameLine();
      int value = static_cast<int>(points[i].threshold);
      ImGui::SetNextItemWidth(ui.em * 8);
      if (ImGui::InputInt("##threshold", &value)) {
        points[i].threshold = std::max(0, value);
        changed = true;
      }
    }
    ImGui::SameLine();
    if (ImGui::SmallButton("Remove")) {
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
      changed = true;
      ImGui::PopID();
      break;
    }
    ImGui::PopID();
  }
  ImGui::Separator();
  ImGui::TextDisabled("Add");
  for (const BreakKind kind : all_break_kinds()) {
    if (ImGui::Selectable(describe({kind, 1, true}).c_str(), false,
                          ImGuiSelectableFlags_NoAutoClosePopups)) {
      points.push_back({kind, 1, true});
      changed = true;
    }
  }
  if (changed) ui.workspace.set_breakpoints(std::move(points));
  return false;
}

bool draw_what_if(Ui& ui) {
  Document* document = ui.workspace.active();
  if (!document) return true;
  const capture::Capture& capture = *document->capture;
  std::int32_t node = document->focus.node();
  // Without a focus: the best live leaf.
  if (node < 0) {
    const auto frontier = capture.frontier(std::max(0, capture.frontier_step(document->cursor)));
    if (!frontier.empty()) node = frontier.front().node;
  }
  if (node < 0 || node >= static_cast<std::int32_t>(capture.nodes().size())) {
    ImGui::TextDisabled("Lock a node in the trie (click it), then come back.");
    return false;
  }
  auto candidates = capture.candidates(node, document->cursor);
  if (candidates.empty() && node > 0) {
    // A leaf has no row yet: offer the alternatives at its parent.
    node = capture.nodes()[static_cast<std::size_t>(node)].parent;
    candidates = capture.candidates(node, document->cursor);
  }
  ImGui::PushTextWrapPos(0);
  ImGui::Text("Continue after node %d with:", node);
  if (!ui.workspace.active_is_live())
    ImGui::TextDisabled(
        "This capture was opened from a file, or a newer run has begun: it can be viewed, not "
        "continued.");
  ImGui::PopTextWrapPos();
  bool done = false;
  ImGui::BeginChild("candidates");
  if (candidates.empty()) ImGui::TextDisabled("No candidates were recorded for this node.");
  for (const capture::CandidateRow& candidate : candidates) {
    char label[192];
    std::snprintf(
        label, sizeof label, "%2d  %-20s  p = %.4f%s###%d", candidate.rank + 1,
        viz::token_text(capture.piece(candidate.token)).c_str(), std::exp(candidate.logprob),
        viz::child_of(capture, node, candidate.token, document->cursor) >= 0 ? "  (taken)" : "",
        candidate.token);
    if (!ImGui::Selectable(label)) continue;
    ui.workspace.branch(node, candidate.token);
    done = true;
  }
  ImGui::EndChild();
  return done;
}

}  // namespace triescope::app

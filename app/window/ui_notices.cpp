// Notices: errors and progress over the panes, the reason of a stop, and the status line.
#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <vector>

#include "app/window/shell/line_fit.h"
#include "app/window/shell/style.h"
#include "app/window/ui_frame.h"
#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"
#include "viz/text/timed_text.h"

namespace triescope::app {
namespace {

constexpr float kNoticeEm = 44, kMaxNoticeTextEm = 12;
constexpr const char* kBetween = "  ·  ";  // the parts of the status line

void draw_progress(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  if (live.progress.empty() && !ui.workspace.exports.under_way()) return;
  const bool exporting = ui.workspace.exports.under_way() && live.progress.empty();
  const double share = exporting                 ? ui.workspace.exports.share()
                       : live.progress_total > 0 ? live.progress_done / live.progress_total
                                                 : 0;
  char label[160];
  std::snprintf(label, sizeof label, "%s  %.0f %%", exporting ? "exporting" : live.progress.c_str(),
                share * 100);
  ImGui::ProgressBar(
      static_cast<float>(share),
      ImVec2(std::max(ui.em * 8, ImGui::GetContentRegionAvail().x - ui.em * 5.5f), 0), label);
  ImGui::SameLine();
  if (ImGui::Button("Cancel")) ui.workspace.cancel();
}

// Shows the newest error; the one before it follows as it is dismissed.
void draw_newest_problem(Ui& ui) {
  std::vector<std::string>& problems = ui.workspace.log.problems;
  if (problems.empty()) return;
  const std::string text = "✕ " + problems.back();
  const float width = ImGui::GetContentRegionAvail().x;
  const float needed = ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y;
  const float most = ui.em * kMaxNoticeTextEm;
  const auto write = [&] {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
  };
  if (needed <= most) {
    write();
  } else {
    ImGui::BeginChild("problem text", ImVec2(width, most));
    write();
    ImGui::EndChild();
  }
  const std::size_t count = problems.size();
  if (ImGui::Button("Copy")) ImGui::SetClipboardText(problems.back().c_str());
  ImGui::SameLine();
  if (ImGui::Button("Dismiss")) problems.pop_back();
  if (count < 2) return;
  ImGui::SameLine();
  if (ImGui::Button("Dismiss all")) problems.clear();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(("the newest of " + counted(count, "error")).c_str());
}

// A run that waits for memory; the notice stays until the user has chosen.
void draw_memory_wait(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  if (live.memory_refused.empty()) return;
  const std::string text =
      "✕ Out of memory in step " + std::to_string(capture::step_of(live.next_tick)) + ", " +
      capture::to_string(capture::phase_of(live.next_tick)) + ": " + live.memory_refused;
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::TextUnformatted(
      "The run waits, and nothing of it is lost. Free some memory, then try again; or stop it and "
      "keep what was recorded.");
  ImGui::PopTextWrapPos();
  if (ImGui::Button("Try again")) ui.workspace.run.try_again();
  ImGui::SameLine();
  if (ImGui::Button("Stop the run")) ui.workspace.run.stop();
  ImGui::SameLine();
  if (ImGui::Button("Copy###copy memory")) ImGui::SetClipboardText(text.c_str());
}

// A line that broke. The run there may go on, so this is no problem of the run.
void draw_lost_line(Ui& ui, const HostLine& line) {
  if (line.lost.empty()) return;
  const std::string text = "✕ The line to " + line.host + " is broken: " + line.lost;
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::TextUnformatted(
      "The run there goes on. What had arrived is here; reconnect, and the rest comes.");
  ImGui::PopTextWrapPos();
  if (ImGui::Button("Reconnect")) ui.workspace.run.host().reconnect();
  ImGui::SameLine();
  if (ImGui::Button("Copy###copy line")) ImGui::SetClipboardText(text.c_str());
}

// Names the node that all panels are locked to, with a button that unlocks it.
void draw_focus_chip(Ui& ui, const Document& document) {
  const std::int32_t node = document.focus.locked;
  if (node == -1) return;
  viz::Scene scene;
  scene.capture = document.capture.get();
  scene.cursor = document.capture->end_tick();
  const std::string label = "locked on " + viz::node_text(scene, node, 16) +
                            (node >= 0 ? " (node " + std::to_string(node) + ")" : "") +
                            "  ✕###unlock";
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui_vec(ui.theme.accent.with_alpha(0.3f)));
  if (ImGui::SmallButton(label.c_str())) ui.workspace.comparison.lock_focus(-1);
  ImGui::PopStyleColor(2);
  help_tooltip(
      "All panels show this node, wherever the cursor is. Click, or press Esc: they follow "
      "the mouse and the cursor again.",
      ui.em);
  ImGui::SameLine(0, ui.em);
}

// The status line's words on the run that is shown, as far as the cursor has seen: what comes next may be a
// question to the audience. Where it is too narrow, the step's figures stay longest.
std::vector<LinePart> status_parts(const Ui& ui, const Document* document) {
  const HostLine line = ui.workspace.run.host().line();
  const std::string where =
      line.host.empty() ? "" : (line.watches ? " (watched) on " : " on ") + line.host;
  if (!document) return {{to_string(ui.workspace.live().state) + where, 0}};
  const capture::Capture& capture = *document->capture;
  const capture::RunInfo& run = capture.run();
  std::vector<LinePart> parts = {
      {ui.workspace.documents.active_is_live() ? to_string(ui.workspace.live().state) + where
       : capture.status() == capture::RunStatus::kStopped ? "stopped"
                                                          : "recorded",
       3},
      {run.method, 2}};
  if (!run.kv_policy.empty()) parts.push_back({"KV " + run.kv_policy, 4});
  const std::int32_t shown = document->cursor > 0 ? capture::step_of(document->cursor - 1) : -1;
  if (const std::string drafts =
          viz::drafts_text(viz::step_so_far(capture, shown, document->cursor));
      !drafts.empty())
    parts.push_back({drafts, 0});
  double total_us = 0;
  const auto phases = capture.phases();
  auto phase = std::lower_bound(
      phases.begin(), phases.end(), capture::make_tick(std::max(0, shown), capture::Phase::kDraft),
      [](const capture::PhaseRow& row, capture::Tick tick) { return row.tick < tick; });
  for (; phase != phases.end() && phase->tick < document->cursor; ++phase)
    total_us += static_cast<double>(phase->duration_us);
  if (total_us > 0)
    parts.push_back(
        {"step " + std::to_string(shown) +
             (capture::phase_of(document->cursor) == capture::Phase::kDraft ? " took "
                                                                            : " so far ") +
             viz::duration_text(total_us) +
             (run.timed_while_drawing ? std::string(" (") + viz::kTimedWhileDrawing + ")" : ""),
         1});
  return parts;
}

}  // namespace

void draw_notices(Ui& ui, float bottom) {
  const bool waits = !ui.workspace.live().memory_refused.empty();
  const HostLine line = ui.workspace.run.host().line();
  const bool lost = !line.lost.empty();
  const bool problem = waits || lost || !ui.workspace.log.problems.empty();
  if (!problem && ui.workspace.live().progress.empty() && !ui.workspace.exports.under_way()) return;
  const ImGuiViewport* const viewport = ImGui::GetMainViewport();
  const float edge = ui.em * 0.6f;
  ImGui::SetNextWindowViewport(viewport->ID);
  ImGui::SetNextWindowPos(ImVec2(viewport->Pos.x + viewport->Size.x - edge, bottom - edge),
                          ImGuiCond_Always, ImVec2(1, 1));
  ImGui::SetNextWindowSize(ImVec2(std::min(ui.em * kNoticeEm, viewport->Size.x - 2 * edge), 0));
  const viz::Color rejected = ui.theme.mark(capture::NodeState::kRejected).color;
  ImGui::PushStyleColor(ImGuiCol_WindowBg, to_imgui_vec(ui.theme.surface));
  ImGui::PushStyleColor(ImGuiCol_Border, to_imgui_vec(problem ? rejected : ui.theme.border));
  ImGui::Begin("###notices", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoDocking);
  ImGui::PopStyleColor(2);
  draw_progress(ui);
  draw_lost_line(ui, line);
  if (lost && waits) ImGui::Separator();
  draw_memory_wait(ui);
  if ((lost || waits) && !ui.workspace.log.problems.empty()) ImGui::Separator();
  draw_newest_problem(ui);
  ImGui::End();
}

void draw_measuring(Ui& ui) {
  ui.animating = false;
  ui.visible_panels.clear();
  ui.press_targets.clear();
  const LiveStatus& live = ui.workspace.live();
  const ImGuiViewport* const viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowViewport(viewport->ID);
  ImGui::SetNextWindowPos(
      ImVec2(viewport->Pos.x + viewport->Size.x / 2, viewport->Pos.y + viewport->Size.y / 2),
      ImGuiCond_Always, ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(ImVec2(std::min(ui.em * 30, viewport->Size.x - ui.em), 0));
  ImGui::Begin("###measuring", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking);
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted("Measuring again without drawing");
  ImGui::PopFont();
  ImGui::TextUnformatted(
      live.state == LiveState::kLoading && !live.progress.empty()
          ? live.progress.c_str()
          : ("step " + std::to_string(capture::step_of(live.next_tick))).c_str());
  if (ImGui::Button("Cancel  Esc")) ui.workspace.run.stop_measuring();
  name_part(ui, "cancel measuring");
  ImGui::End();
}

void draw_break_reason(Ui& ui, float width) {
  const std::string reason = ui.workspace.transport.stop_reason();
  if (reason.empty()) return;
  const LiveStatus& live = ui.workspace.live();
  const bool waits = !live.memory_refused.empty() && reason == live.pause_reason;
  const auto mark = waits ? capture::NodeState::kRejected : capture::NodeState::kBonus;
  const viz::Color color = ui.theme.legible(ui.theme.mark(mark).color);
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(color));
  text_fitted((waits ? "✕ " : "● ") + reason, width);
  ImGui::PopStyleColor();
}

void draw_status_line(Ui& ui) {
  const Document* document = ui.workspace.active();
  const float begin = ImGui::GetCursorPosX();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  if (document) draw_focus_chip(ui, *document);
  const std::vector<LinePart> parts = status_parts(ui, document);
  const float chip = ImGui::GetCursorPosX() - begin;
  const float width = ImGui::GetContentRegionAvail().x;
  // A narrow tool bar leaves what stopped the run to this line.
  const bool stopped = ui.state.narrow && !ui.workspace.transport.stop_reason().empty();
  const std::string right = ui.workspace.newest_message();
  const std::string whole = parts_that_fit(parts, kBetween, FLT_MAX, line_width);
  const std::string left =
      parts_that_fit(parts, kBetween, stopped || !right.empty() ? width * 0.6f : width, line_width);
  line_fitted(left, whole);
  const float left_width = line_width(left) + ui.em * 3;
  const float room = width - left_width;
  if (room > ui.em * 6 && (stopped || !right.empty())) {
    ImGui::SameLine(begin + chip + left_width);
    const auto newline = right.find('\n');
    if (stopped)
      draw_break_reason(ui, room);
    else
      text_fitted(newline == std::string::npos ? right : right.substr(0, newline) + " …", room);
  }
  ImGui::PopStyleColor();
}

}  // namespace triescope::app

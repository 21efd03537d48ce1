// Notices: problems, a breakpoint that was hit, progress; and the status line.
#include <algorithm>
#include <cstdio>

#include "app/window/style.h"
#include "app/window/ui_parts.h"
#include "viz/look/drawing.h"
#include "viz/words/number_text.h"

namespace triescope::app {

void draw_problems(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  if (!ui.workspace.problems.empty()) {
    const std::string text = ui.workspace.problems.front();
    const float width = ImGui::GetContentRegionAvail().x;
    const float button_width = ui.em * 11;
    const float wrap = std::max(ui.em * 12, width - button_width - ui.em * 2);
    const float height =
        std::min(ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap - ui.em * 1.4f).y,
                 ui.em * 9) +
        ui.em * 1.3f;
    ImGui::PushStyleColor(
        ImGuiCol_ChildBg,
        to_imgui_vec(ui.theme.mark(capture::NodeState::kRejected).color.with_alpha(0.22f)));
    ImGui::BeginChild("problem", ImVec2(width, std::max(height, ui.em * 2.4f)),
                      ImGuiChildFlags_AlwaysUseWindowPadding);
    ImGui::BeginChild("problem text", ImVec2(wrap, 0));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(("✕ " + text).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
    ImGui::SameLine();
    if (ImGui::Button("Copy")) ImGui::SetClipboardText(text.c_str());
    ImGui::SameLine();
    char label[48];
    std::snprintf(
        label, sizeof label,
        ui.workspace.problems.size() > 1 ? "Dismiss (1 of %zu)###dismiss" : "Dismiss###dismiss",
        ui.workspace.problems.size());
    if (ImGui::Button(label)) ui.workspace.problems.erase(ui.workspace.problems.begin());
    ImGui::EndChild();
    ImGui::PopStyleColor();
  }
  if (!live.pause_reason.empty() && live.state == LiveState::kPaused) {
    ImGui::PushStyleColor(ImGuiCol_Text,
                          to_imgui_vec(ui.theme.mark(capture::NodeState::kBonus).color));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(("● breakpoint — " + live.pause_reason).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  if (!live.progress.empty() || ui.workspace.exporting()) {
    const bool exporting = ui.workspace.exporting() && live.progress.empty();
    const double share = exporting                 ? ui.workspace.export_share()
                         : live.progress_total > 0 ? live.progress_done / live.progress_total
                                                   : 0;
    char label[160];
    std::snprintf(label, sizeof label, "%s  %.0f %%",
                  exporting ? "exporting" : live.progress.c_str(), share * 100);
    ImGui::ProgressBar(
        static_cast<float>(share),
        ImVec2(std::max(ui.em * 10, ImGui::GetContentRegionAvail().x - ui.em * 6), 0), label);
    ImGui::SameLine();
    if (ImGui::Button("Cancel")) ui.workspace.cancel();
  }
}

void draw_status_line(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  const Document* document = ui.workspace.active();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  std::string left = to_string(live.state);
  if (document) {
    const capture::RunInfo& run = document->capture->run();
    left += "  ·  " + run.method + "  ·  KV " + run.kv_policy;
    const std::int32_t shown = document->cursor > 0 ? capture::step_of(document->cursor - 1) : -1;
    if (const auto step = document->capture->step(shown); step && step->drafted > 0)
      left += "  ·  accepted " + std::to_string(step->accepted) + " of " +
              std::to_string(step->drafted);
    double total_us = 0;
    const auto phases = document->capture->phases();
    auto phase = std::lower_bound(
        phases.begin(), phases.end(),
        capture::make_tick(std::max(0, shown), capture::Phase::kDraft),
        [](const capture::PhaseRow& row, capture::Tick tick) { return row.tick < tick; });
    for (; phase != phases.end() && capture::step_of(phase->tick) == shown; ++phase)
      total_us += static_cast<double>(phase->duration_us);
    if (total_us > 0)
      left += "  ·  step " + std::to_string(shown) + " took " + viz::duration_text(total_us);
  }
  std::string right;
  if (!ui.workspace.messages.empty()) right = ui.workspace.messages.back().text;
  const float width = ImGui::GetContentRegionAvail().x;
  const float left_width = std::min(ImGui::CalcTextSize(left.c_str()).x + ui.em, width * 0.6f);
  text_fitted(left, left_width);
  if (!right.empty() && width - left_width > ui.em * 8) {
    ImGui::SameLine(left_width + ui.em * 2);
    const auto newline = right.find('\n');
    text_fitted(newline == std::string::npos ? right : right.substr(0, newline) + " …",
                width - left_width - ui.em * 2);
  }
  ImGui::PopStyleColor();
}

}  // namespace triescope::app

// Two runs side by side: the strip that names them and shows what differs, the pair of panels
// in a pane, and the choice of the second run.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/window/style.h"
#include "app/window/ui_dialogs.h"
#include "app/window/ui_parts.h"
#include "core/base/counted.h"
#include "viz/look/node_text.h"
#include "viz/words/number_text.h"

namespace triescope::app {
namespace {

constexpr float kMinBesideEm = 13;  // of each of two panels that stand side by side

struct Figure {
  std::string text, help;
};

// The figures that are compared, in the same order for both runs.
std::vector<Figure> figures_of(const Document& document) {
  const capture::Capture& capture = *document.capture;
  std::int32_t steps = 0, rows = 0;
  for (const capture::StepRow& row : capture.steps()) {
    if (capture::make_tick(row.step, capture::Phase::kObserve) >= document.cursor) break;
    ++steps;
    if (row.step > 0) rows += row.forward_rows;
  }
  std::int32_t held = 0;
  for (const capture::MemoryRow& row : capture.memory()) {
    if (capture::make_tick(row.step, capture::Phase::kCommit) >= document.cursor) break;
    held = row.live + row.garbage;
  }
  const std::int64_t tokens = viz::emitted_before(capture, document.cursor);
  return {
      {counted(tokens, "token"), "tokens of the text, emitted by whole steps"},
      {counted(steps, "step"), "whole steps before the cursor, prefill included"},
      {counted(rows, "row"), "rows of all forwards after prefill"},
      {"KV " + std::to_string(held),
       "KV slots that hold a token: live and garbage, prompt included"},
      {viz::duration_text(static_cast<double>(viz::decoding_us_before(capture, document.cursor))),
       "time of decoding from the end of prefill to the cursor"}};
}

std::string token_at(const Document& document, std::int32_t node) {
  viz::Scene scene;
  scene.capture = document.capture.get();
  return viz::node_text(scene, node, 16);
}

// The open captures to choose from; true: one was chosen.
bool draw_compare_choice(Ui& ui) {
  bool chosen = false, any = false;
  for (const auto& document : ui.workspace.documents()) {
    if (document.get() == ui.workspace.active()) continue;
    any = true;
    const std::string label = document->title + "###choice" + std::to_string(document->serial);
    if (ImGui::Selectable(label.c_str(), document.get() == ui.workspace.partner())) {
      ui.workspace.compare(document.get());
      chosen = true;
    }
    help_tooltip(document->path + "\nsettings " + document->capture->run().settings_json, ui.em);
    if (chosen) break;
  }
  if (!any) ImGui::TextDisabled("No other run is open: open a capture.");
  return chosen;
}

}  // namespace

float draw_compare_strip(Ui& ui, float width) {
  Document& left = *ui.workspace.active();
  Document* const right = ui.workspace.partner();
  const ImVec4 difference = to_imgui_vec(ui.theme.difference);
  // The same height with and without a second run.
  const bool beside = width >= ui.em * 60;
  const float height =
      ImGui::GetTextLineHeightWithSpacing() * (beside ? 2 : 4) + ImGui::GetFrameHeight();
  if (!right) {
    command_button(ui, "compare-with", "Choose the second run…");
    return height;
  }
  ImGui::BeginGroup();
  const float left_edge = ImGui::GetCursorScreenPos().x;
  const auto figures = figures_of(left), other_figures = figures_of(*right);
  const auto side = [&](const Document& document, const std::vector<Figure>& own,
                        const std::vector<Figure>& others, float room) {
    // Two lines, each figure in a column of its own: nothing moves while the figures change.
    const float begin = ImGui::GetCursorPosX(), column = (room - ui.em) / 5;
    ImGui::PushFont(ui.fonts.ui_bold, 0);
    text_fitted(document.title, room - ui.em);
    ImGui::PopFont();
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool differs = own[i].text != others[i].text;
      if (i > 0) ImGui::SameLine();
      ImGui::SetCursorPosX(begin + column * static_cast<float>(i));
      ImGui::PushStyleColor(ImGuiCol_Text, differs ? difference : to_imgui_vec(ui.theme.text_dim));
      text_fitted((differs ? "≠ " : "") + own[i].text, column - ui.em * 0.4f);
      ImGui::PopStyleColor();
      help_tooltip(own[i].text + "\n" + own[i].help, ui.em);
    }
  };
  // As the panels below: side by side, or one under the other where that is too narrow.
  if (beside) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    side(left, figures, other_figures, width / 2);
    ImGui::EndGroup();
    ImGui::SetCursorScreenPos(ImVec2(at.x + width / 2, at.y));
    ImGui::BeginGroup();
    side(*right, other_figures, figures, width / 2);
    ImGui::EndGroup();
    ImGui::SetCursorScreenPos(ImVec2(at.x, ImGui::GetCursorScreenPos().y));
  } else {
    side(left, figures, other_figures, width);
    side(*right, other_figures, figures, width);
  }

  const viz::Twins& twins = left.twins;
  std::string verdict;
  if (twins.parting_node >= 0 && right->twins.parting_node >= 0) {
    const std::size_t count = twins.partings.size();
    verdict =
        (count > 1 ? "≠ " + counted(count, "difference") + ", the first" : "≠ first") +
        std::string(" at token ") +
        std::to_string(left.capture->nodes()[static_cast<std::size_t>(twins.parting_node)].depth) +
        ": " + token_at(left, twins.parting_node) + " (step " + std::to_string(twins.parting_step) +
        ")  |  " + token_at(*right, right->twins.parting_node) + " (step " +
        std::to_string(right->twins.parting_step) + ")";
  } else {
    verdict = "= the two texts agree as far as both go";
  }
  if (left.capture->run().prompt_tokens != right->capture->run().prompt_tokens)
    verdict = "≠ the prompts differ;  " + verdict;
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("cursor by");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ui.em * 6.5f);
  if (ImGui::BeginCombo("##along", viz::to_string(ui.workspace.along()))) {
    for (const viz::Along along : viz::all_alongs())
      if (ImGui::Selectable(viz::to_string(along), along == ui.workspace.along()))
        ui.workspace.set_along(along);
    ImGui::EndCombo();
  }
  help_tooltip(
      "What the shared cursor counts. tokens: both runs have emitted equally many, and the one "
      "that emits more a step waits; text: the same, and behind a difference from where the texts "
      "agree again; steps: the same step and phase; time: the same time since prefill.",
      ui.em);
  ImGui::SameLine();
  ImGui::BeginDisabled(twins.parting_node < 0);
  command_button(ui, "go-difference", "First ≠");
  ImGui::SameLine();
  command_button(ui, "next-difference", "Next ≠");
  ImGui::EndDisabled();
  ImGui::SameLine();
  command_button(ui, "compare-with", "Other…");
  ImGui::SameLine();
  text_fitted(verdict, left_edge + width - ImGui::GetCursorScreenPos().x - ui.em);
  ImGui::EndGroup();
  return height;
}

void draw_compare_pair(Ui& ui, const std::string& panel, viz::Rect area, Document& left) {
  Document* const right = ui.workspace.partner();
  const float gap = std::max(2.0f, std::round(ui.em * 0.25f));
  const bool beside = area.w >= 2 * ui.em * kMinBesideEm;
  viz::Rect a = area, b = area;
  if (beside) {
    a.w = std::floor((area.w - gap) / 2);
    b.x = area.x + a.w + gap;
    b.w = area.right() - b.x;
  } else {
    a.h = std::floor((area.h - gap) / 2);
    b.y = area.y + a.h + gap;
    b.h = area.bottom() - b.y;
  }
  ImGui::PushID("left");
  draw_panel(ui, *left.panel(panel), a, left);
  ImGui::PopID();
  const viz::Rect line = beside ? viz::Rect{a.right(), area.y, gap, area.h}
                                : viz::Rect{area.x, a.bottom(), area.w, gap};
  ImGui::GetWindowDrawList()->AddRectFilled(
      ImVec2(line.x, line.y), ImVec2(line.right(), line.bottom()), to_imgui(ui.theme.border));
  if (right) {
    ImGui::PushID("right");
    draw_panel(ui, *right->panel(panel), b, *right);
    ImGui::PopID();
    return;
  }
  ImGui::SetCursorScreenPos(ImVec2(b.x + ui.em * 0.6f, b.y + ui.em * 0.4f));
  ImGui::BeginChild("no second run",
                    ImVec2(std::max(1.0f, b.w - ui.em), std::max(1.0f, b.h - ui.em)));
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "The second run goes here: start another one, or choose a capture with Ctrl+D.");
  ImGui::PopTextWrapPos();
  ImGui::EndChild();
}

bool draw_compare(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.compare_files;
  browser.extensions = {".tscap"};
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("Choose an open run, or a capture file, to compare with this one.");
  ImGui::PopTextWrapPos();
  if (draw_compare_choice(ui)) return true;
  ImGui::Separator();
  bool open = browser.draw(ui.em * 10);
  ImGui::BeginDisabled(browser.path.empty());
  open |= ImGui::Button("Open and compare");
  ImGui::EndDisabled();
  if (!open) return false;
  Document* const here = ui.workspace.active();
  ui.workspace.open_capture(browser.path);
  Document* const opened = ui.workspace.active();
  if (opened == here) return true;  // it could not be opened; a message says why
  ui.workspace.activate(here);
  ui.workspace.compare(opened);
  return true;
}

}  // namespace triescope::app

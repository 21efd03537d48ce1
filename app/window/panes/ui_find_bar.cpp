// The bar above the panes, which finds a text or steps in the run shown.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "core/base/error.h"
#include "lessons/trace.h"

namespace triescope::app {
namespace {

constexpr const char* kExamples[] = {
    "accepted >= 1 and refused > 0", "verdict = \"rejected\" and depth >= 2 and reached",
    "token holds \"the\" and entropy > 2", "accepted = 0 and drafted > 0", "ms > 100"};

// Two buttons, of which the one in force is lit.
void choose_by(Ui& ui) {
  FindInRun& find = ui.state.find;
  const auto button = [&](const char* label, FindBy by, const char* name) {
    const bool chosen = find.by == by;
    if (lit_button(label, chosen) && !chosen) {
      find.by = by;
      find.just_opened = true;
    }
    name_part(ui, name);
  };
  button("Text", FindBy::kText, "find text");
  help_tooltip("Finds a text in what the run decoded and in its drafts.", ui.em);
  ImGui::SameLine(0, ui.em * 0.15f);
  button("Steps where", FindBy::kWhere, "find steps");
  help_tooltip("Finds steps for which a condition is true: accepted >= 1 and refused > 0", ui.em);
}

// The names that conditions know, and examples: a click takes one into the field.
void draw_names(Ui& ui) {
  FindInRun& find = ui.state.find;
  if (ImGui::Button("Names")) ImGui::OpenPopup("find names");
  name_part(ui, "find names");
  help_tooltip("What a condition can ask for, and examples.", ui.em);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {ui.em * 44, ui.em * 26});
  if (!ImGui::BeginPopup("find names")) return;
  const auto add = [&](const std::string& name) {
    find.where += (find.where.empty() || find.where.ends_with(' ') ? "" : " ") + name;
    find.just_opened = true;
  };
  ImGui::TextDisabled("Examples");
  for (const char* const example : kExamples)
    if (ImGui::Selectable(example)) {
      find.where = example;
      find.just_opened = true;
    }
  ImGui::Separator();
  ImGui::TextDisabled("Of each node that a step decided");
  for (const ConditionName& one : node_names()) {
    if (ImGui::Selectable(one.name)) add(one.name);
    ImGui::SameLine(ui.em * 6);
    ImGui::TextDisabled("%s", one.meaning);
  }
  ImGui::Separator();
  ImGui::TextDisabled("Of the step");
  int column = 0;
  const auto of_step = [&](const std::string& name) {
    if (column % 5) ImGui::SameLine(ui.em * 7.5f * static_cast<float>(column % 5));
    ++column;
    if (ImGui::Selectable(name.c_str(), false, 0, {ui.em * 7, 0})) add(name);
  };
  of_step("step");
  for (const lessons::Series& one : lessons::series_list()) of_step(std::string(one.name));
  ImGui::EndPopup();
}

// Makes the condition a breakpoint.
void draw_stop_here(Ui& ui) {
  const FindInRun& find = ui.state.find;
  ImGui::BeginDisabled(find.where.empty() || !find.problem().empty());
  if (ImGui::Button("Break")) {
    std::vector<Breakpoint> points = ui.workspace.run.breakpoints();
    points.push_back({.kind = BreakKind::kWhere, .text = find.where});
    try {
      ui.workspace.run.set_breakpoints(std::move(points));
      ui.workspace.say(LogLevel::kInfo, "a run stops after each step where " + find.where);
    } catch (const Error& error) {
      ui.workspace.say(LogLevel::kError, error.what());
    }
  }
  name_part(ui, "find break");
  ImGui::EndDisabled();
  help_tooltip(
      "Makes the condition a breakpoint: a run stops once such a step is done, while it "
      "decodes and in playback. F9 lists them.",
      ui.em);
}

}  // namespace

float draw_find_bar(Ui& ui, float width) {
  FindInRun& find = ui.state.find;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const bool is_text = find.by == FindBy::kText;
  find.update(ui.workspace);
  choose_by(ui);
  ImGui::SameLine();
  if (std::exchange(find.just_opened, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(std::min(ui.em * (is_text ? 18 : 26), width * 0.4f));
  const bool enter = ImGui::InputTextWithHint(
      is_text ? "##find" : "##where",
      is_text ? "a token or text of this run" : "accepted >= 1 and refused > 0",
      is_text ? &find.query : &find.where,
      ImGuiInputTextFlags_EnterReturnsTrue |
          (is_text ? ImGuiInputTextFlags_AutoSelectAll : ImGuiInputTextFlags_None));
  name_part(ui, "find");
  help_tooltip(
      is_text
          ? "Finds a text in what the run decoded and in its drafts, across tokens too. Enter: the "
            "next one; Shift+Enter: the one before; Esc closes."
          : "A condition on a step or on a node that it decided; Names lists what it can ask "
            "for. Enter: the next such step; Shift+Enter: the one before; Esc closes.",
      ui.em);
  if (enter) {
    find.go(ui.workspace, ImGui::GetIO().KeyShift ? -1 : +1);
    ImGui::SetKeyboardFocusHere(-1);  // Enter again goes on
    ui.animating = true;
  }
  ImGui::SameLine();
  // The width is the same for every number, so that the buttons stay under the mouse.
  const std::string count = find.count_text(ui.workspace);
  const float at = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(count.c_str());
  ImGui::SameLine(at + ImGui::CalcTextSize(is_text ? "10000 of 10000" : "100 of 100").x +
                  ui.em * 0.5f);
  command_button(ui, "find-previous", "‹");
  ImGui::SameLine();
  command_button(ui, "find-next", "›");
  ImGui::SameLine();
  if (!is_text) {
    draw_names(ui);
    ImGui::SameLine();
    draw_stop_here(ui);
    ImGui::SameLine();
  }
  if (ImGui::Button("Close###close-find")) find.open = false;
  name_part(ui, "close find");
  if (is_text) return ImGui::GetCursorScreenPos().y - begin.y;
  // The line is always there, so that the panes stay in their place while one types.
  ImGui::SetCursorScreenPos({begin.x, ImGui::GetCursorScreenPos().y});
  if (find.where.empty()) {
    ImGui::TextDisabled("A condition on a step, or on a node that it decided");
  } else if (find.problem().empty()) {
    text_fitted(find.here_text(ui.workspace), width);
  } else {
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
    text_fitted(find.problem(), width);
    ImGui::PopStyleColor();
  }
  return ImGui::GetCursorScreenPos().y - begin.y;
}

}  // namespace triescope::app

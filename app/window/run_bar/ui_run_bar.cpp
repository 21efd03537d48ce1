// The run bar: model, device, dtype; prompt; method with its parameters; start.
#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cstdio>

#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/style.h"
#include "core/base/error.h"
#include "core/methods/registry.h"

namespace triescope::app {

namespace {

// A button that takes the settings of the loaded model, while the request leaves some open.
void draw_model_settings(Ui& ui, RunRequest& request) {
  const std::optional<ModelInfo>& model = ui.workspace.live().model;
  if (!model || model->generation.settings.empty()) return;
  if (ui.workspace.answers.model_path(request.model) != model->path) return;
  const std::string note = model_settings_note(request, *model, "click to take it");
  if (note.empty()) return;
  if (ImGui::Button("Take the model's settings", ImVec2(-FLT_MIN, 0))) {
    try {
      take_model_settings(request, *model);
    } catch (const Error& error) {
      ui.workspace.say(LogLevel::kError, error.what());
    }
  }
  help_tooltip(note, ui.em);
}

void draw_heading(Ui& ui, const char* text) {
  ImGui::Dummy(ImVec2(0, ui.em * 0.15f));
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(text);
  ImGui::PopFont();
}

// A button that takes over the request of the run shown. It is always drawn, so that the fields
// below it stay in their places.
void draw_take_run(Ui& ui) {
  const Command* const command = ui.commands.find("take-run");
  const bool can = command->is_enabled();
  ImGui::BeginDisabled(!can);
  if (ImGui::Button("Take over the run shown", ImVec2(-FLT_MIN, 0))) command->run();
  ImGui::EndDisabled();
  help_tooltip(
      can ? command->title + "  " + to_string(command->chords.front()) + "\n" + command->help
      : ui.workspace.active() ? "The run bar holds what the run shown was started with."
                              : "No run is shown.",
      ui.em);
}

void draw_method(Ui& ui, RunRequest& request) {
  const MethodInfo* method = nullptr;
  for (const MethodInfo& candidate : methods())
    if (candidate.name == request.method) method = &candidate;
  if (!method) method = &methods().front();
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##method", method->title.c_str(), ImGuiComboFlags_HeightLargest)) {
    for (const MethodInfo& candidate : methods()) {
      if (ImGui::Selectable(candidate.title.c_str(), &candidate == method)) {
        request.method = candidate.name;
        request.settings = nlohmann::json::object();
      }
      help_tooltip(candidate.summary + (candidate.paper.empty() ? "" : "\n" + candidate.paper),
                   ui.em);
    }
    ImGui::EndCombo();
  }
  help_tooltip(method->summary + (method->paper.empty() ? "" : "\n" + method->paper) +
                   (method->lossless ? "\nLossless." : "\nLossy: changes the text."),
               ui.em);
  if (method->takes_draft_model() || method->takes_draft_head())
    draw_draft_field(ui, *method, request);
  draw_model_settings(ui, request);
  edit_parameters(ui, *method, request.settings);
}

void draw_start(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  const auto button = [&](const char* id, const char* label, float width) {
    const Command* const command = ui.commands.find(id);
    if (ImGui::Button(label, ImVec2(width, 0))) command->run();
    name_part(ui, std::string("run bar ") + id);
    help_tooltip(command->title + "  " + to_string(command->chords.front()) + "\n" + command->help,
                 ui.em);
  };
  ImGui::BeginDisabled(live.state == LiveState::kLoading);
  const float half = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2;
  // These are not lit: the start screen and the tool bar show which button comes next, and only one
  // is lit.
  button("start", "Start", half);
  ImGui::SameLine();
  button("start-run", "Start and run", -FLT_MIN);
  ImGui::EndDisabled();
}

// One line about the model in use, the rest in its tooltip.
void draw_loaded(Ui& ui) {
  const std::optional<ModelInfo>& model = ui.workspace.live().model;
  char text[256];
  if (model)
    std::snprintf(text, sizeof text, "%d layers, %d heads / %d KV heads, vocabulary %d, context %d",
                  model->layers, model->heads, model->kv_heads, model->vocab_size, model->context);
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  text_fitted(model ? "loaded: " + model->name : "no model is loaded yet",
              ImGui::GetContentRegionAvail().x);
  ImGui::PopStyleColor();
  if (model) help_tooltip(model->name + "\n" + text + "\n" + model->path, ui.em);
}

}  // namespace

// Settings that change from run to run come first. Start is always in sight: only the part between
// scrolls.
void draw_run_bar(Ui& ui, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, to_imgui_vec(ui.theme.surface));
  ImGui::BeginChild("run bar", size,
                    ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  RunRequest& request = ui.workspace.request();
  // A problem of the prompt stands above Start and takes its room from the end of the part that
  // scrolls, so that no field moves as it comes and goes.
  const std::string problem = prompt_problem(ui, request);
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  const float problem_height = problem.empty()
                                   ? 0
                                   : spacing + ImGui::CalcTextSize(problem.c_str(), nullptr, false,
                                                                   ImGui::GetContentRegionAvail().x)
                                                   .y;
  const float below = ImGui::GetFrameHeightWithSpacing() + ImGui::GetTextLineHeightWithSpacing() +
                      spacing + problem_height;
  ImGui::BeginChild("run", ImVec2(0, std::max(ui.em * 4, ImGui::GetContentRegionAvail().y - below)),
                    ImGuiChildFlags_NavFlattened);
  draw_take_run(ui);
  draw_heading(ui, "Model");
  draw_memory_line(ui, request);
  draw_model(ui, request);
  draw_heading(ui, ui.workspace.run.prompt_is_ids() ? "Prompt, as token ids" : "Prompt");
  draw_prompt(ui, request);
  draw_heading(ui, "Method");
  draw_method(ui, request);
  ImGui::EndChild();
  ImGui::Separator();
  draw_problem(ui, problem);
  draw_start(ui);
  draw_loaded(ui);
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

}  // namespace triescope::app

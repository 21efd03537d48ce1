// The run bar: model, device, dtype; prompt; method with its parameters; start.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/style.h"
#include "core/base/error.h"
#include "core/files/model_name.h"
#include "core/methods/registry.h"

namespace triescope::app {

namespace {

// Lists `entries` inside an open combo, read again as it opens. A click writes one into `model`.
void list_catalog(Ui& ui, std::vector<CatalogEntry>& entries,
                  std::vector<CatalogEntry> (RunHost::*read)() const, const std::string& shown,
                  std::string& model) {
  if (ImGui::IsWindowAppearing()) entries = (ui.workspace.run.host().*read)();
  for (const CatalogEntry& entry : entries) {
    if (ImGui::Selectable(entry.name.c_str(), entry.name == shown)) model = entry.name;
    help_tooltip(entry.path, ui.em);
  }
}

// The file name of the drafter that is used if the field stays empty; "" = none is.
const std::string& default_draft_of(Ui& ui, const MethodInfo& method, const RunRequest& request) {
  if (const std::pair of{method.name, request.model}; ui.state.default_draft_of != of) {
    ui.state.default_draft_of = of;
    try {
      const std::string path = ui.workspace.run.host().drafts_by_default(request);
      ui.state.default_draft = std::filesystem::path(path).filename().string();
    } catch (const Error&) {
      ui.state.default_draft.clear();  // starting the run says what is wrong with the model
    }
  }
  return ui.state.default_draft;
}

// The device of a draft model, where there is a choice.
void draw_draft_device(Ui& ui, RunRequest& request) {
  std::string& chosen = request.draft_device;
  if (ui.workspace.devices.size() < 2 && chosen.empty()) return;
  ImGui::SetNextItemWidth(-FLT_MIN);
  const std::string shown = "drafts on " + (chosen.empty() ? "the model's device" : chosen);
  if (ImGui::BeginCombo("##draft device", shown.c_str())) {
    if (ImGui::Selectable("the model's device", chosen.empty())) chosen.clear();
    for (const DeviceInfo& device : ui.workspace.devices)
      if (ImGui::Selectable((device.id + "  " + device.name).c_str(), device.id == chosen))
        chosen = device.id;
    ImGui::EndCombo();
  }
  help_tooltip(
      "Device of the draft model. On another kind of device than the model's it has that one's "
      "usual data type: f32 on a CPU, bf16 on a GPU.",
      ui.em);
  name_part(ui, "draft device");
}

void draw_draft_field(Ui& ui, const MethodInfo& method, RunRequest& request) {
  const bool head = method.needs_draft_head();
  std::string& model = request.draft_model;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight());
  const std::string before = model;
  const std::string& unnamed = default_draft_of(ui, method, request);
  const std::string hint = std::string(head ? "draft head: " : "draft model: ") +
                           (unnamed.empty() ? "a name or a path" : unnamed);
  ImGui::InputTextWithHint("##draft model", hint.c_str(), &model);
  keep_on_escape(model, before);
  help_tooltip(
      head
          ? "Draft head: trained for this model, as a folder or a .safetensors, .bin or .pt file. Its "
            "kind is detected; the log says what was found."
          : "Draft model: a smaller one with the same vocabulary, as a name from the list, a .gguf "
            "file or a Hugging Face directory.",
      ui.em);
  ImGui::SameLine(0, 0);
  if (ImGui::BeginCombo("##draft models", "", ImGuiComboFlags_NoPreview)) {
    if (head)
      list_catalog(ui, ui.state.draft_heads, &RunHost::draft_heads, model, model);
    else
      list_catalog(ui, ui.state.draft_models, &RunHost::draft_models, model, model);
    ImGui::EndCombo();
  }
  if (!head) draw_draft_device(ui, request);
}

}  // namespace

const std::string& path_of_model(Ui& ui, const RunRequest& request) {
  if (ui.state.model_name != request.model) {
    ui.state.model_name = request.model;
    try {
      ui.state.model_path = ui.workspace.run.host().model_path(request.model);
    } catch (const Error&) {
      ui.state.model_path.clear();
    }
  }
  return ui.state.model_path;
}

namespace {

// A button that takes the settings of the loaded model, while the request leaves some open.
void draw_model_settings(Ui& ui, RunRequest& request) {
  const std::optional<ModelInfo>& model = ui.workspace.live().model;
  if (!model || model->generation.settings.empty()) return;
  if (path_of_model(ui, request) != model->path) return;
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

// The dtype of keys and values; on a GPU they have the weights'.
void draw_kv_dtype(Ui& ui, RunRequest& request) {
  const bool can_choose = request.device == "cpu";
  if (!can_choose) request.kv_dtype.reset();
  ImGui::BeginDisabled(!can_choose);
  ImGui::SetNextItemWidth(-FLT_MIN);
  const std::string shown =
      std::string("KV ") + to_string(request.kv_dtype.value_or(request.dtype));
  if (ImGui::BeginCombo("##kv dtype", shown.c_str())) {
    if (ImGui::Selectable("as beside it", !request.kv_dtype)) request.kv_dtype.reset();
    for (const DType dtype : {DType::kF32, DType::kBF16})
      if (ImGui::Selectable(to_string(dtype), request.kv_dtype == dtype)) request.kv_dtype = dtype;
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
  help_tooltip(can_choose ? "Data type of keys and values: bf16 halves what they take."
                          : "Data type of keys and values: on a GPU the one beside it.",
               ui.em);
  name_part(ui, "kv dtype");
}

// Lists each device with its free memory, inside an open combo.
void list_devices_with_memory(Ui& ui, RunRequest& request) {
  std::vector<std::string>& memory = ui.state.device_memory;
  const std::vector<DeviceInfo>& devices = ui.workspace.devices;
  // What is free on another machine is not asked in every list.
  if (ImGui::IsWindowAppearing()) {
    memory.clear();
    if (ui.workspace.run.host().line().host.empty())
      memory = device_memory_texts(devices, request.device);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string label =
        devices[i].id + "  " + devices[i].name + (i < memory.size() ? "  " + memory[i] : "");
    if (ImGui::Selectable(label.c_str(), devices[i].id == request.device))
      choose_device(request, devices[i].id);
  }
}

void draw_model(Ui& ui, RunRequest& request) {
  const float button = ImGui::CalcTextSize("Open…").x + ImGui::GetStyle().FramePadding.x * 2 +
                       ImGui::GetStyle().ItemSpacing.x;
  const float field = ImGui::GetContentRegionAvail().x - button;
  ImGui::SetNextItemWidth(field);
  const std::string shown =
      request.model.empty()
          ? (ui.state.catalog.empty() ? "none installed" : ui.state.catalog.front().name)
          : request.model;
  // A path is shown by its file or model name; its folders are in the tooltip.
  const std::string file = formats::folder_model_name(shown);
  const std::string fitted =
      middle_fitted(file.empty() ? shown : file,
                    field - ImGui::GetFrameHeight() - ImGui::GetStyle().FramePadding.x * 2);
  if (ImGui::BeginCombo("##model", fitted.c_str())) {
    list_catalog(ui, ui.state.catalog, &RunHost::models, shown, request.model);
    ImGui::EndCombo();
  }
  name_part(ui, "model");
  help_tooltip(shown, ui.em);
  ImGui::SameLine();
  if (ImGui::Button("Open…")) ui.state.open(Dialog::kOpen);
  const float row = ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetNextItemWidth(row * 0.38f);
  if (ImGui::BeginCombo("##device", request.device.c_str())) {
    list_devices_with_memory(ui, request);
    ImGui::EndCombo();
  }
  help_tooltip(
      "Device. A GPU is listed where an NVIDIA driver answers and the CUDA libraries are "
      "installed.",
      ui.em);
  name_part(ui, "device");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(row * 0.26f);
  if (ImGui::BeginCombo("##dtype", to_string(request.dtype))) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
      if (ImGui::Selectable(to_string(dtype), dtype == request.dtype)) request.dtype = dtype;
    ImGui::EndCombo();
  }
  help_tooltip(
      "Data type of weights that do not lie in quantised blocks, and of computation. f32 is exact; "
      "bf16 halves the memory, and a GPU begins with it; f16 is for CUDA.",
      ui.em);
  name_part(ui, "dtype");
  ImGui::SameLine();
  draw_kv_dtype(ui, request);
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
  if (method->needs != Need::kNothing) draw_draft_field(ui, *method, request);
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
  // Another machine has other models.
  if (std::exchange(ui.state.lines_seen, ui.workspace.connection.lines()) !=
      ui.workspace.connection.lines()) {
    ui.state.catalog = ui.workspace.run.host().models();
    ui.state.model_name = "\n";  // no model's: its path is asked for again
  }
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

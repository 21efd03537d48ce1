// The run bar's fields for the model and the draft model: names, devices, data types.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>
#include <filesystem>

#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "core/base/error.h"
#include "core/files/model_name.h"

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

void draw_draft_field(Ui& ui, const MethodInfo& method, RunRequest& request) {
  const bool head = method.needs_draft_head(), either = method.takes_companion;
  std::string& model = request.draft_model;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight());
  const std::string before = model;
  const std::string& unnamed = default_draft_of(ui, method, request);
  const std::string hint = either ? "draft model or head: none, the text drafts"
                                  : std::string(head ? "draft head: " : "draft model: ") +
                                        (unnamed.empty() ? "a name or a path" : unnamed);
  ImGui::InputTextWithHint("##draft model", hint.c_str(), &model);
  keep_on_escape(model, before);
  help_tooltip(
      either
          ? "Draft model of the same vocabulary or draft head of this model: a name from the list or a path. "
            "Left empty, the text itself drafts."
      : head
          ? "Draft head: trained for this model, as a folder or a .safetensors, .bin or .pt file. Its "
            "kind is detected; the log says what was found."
          : "Draft model: a smaller one with the same vocabulary, as a name from the list, a .gguf "
            "file or a Hugging Face directory.",
      ui.em);
  ImGui::SameLine(0, 0);
  if (ImGui::BeginCombo("##draft models", "", ImGuiComboFlags_NoPreview)) {
    if (head || either) list_catalog(ui, ui.state.draft_heads, &RunHost::draft_heads, model, model);
    if (!head) list_catalog(ui, ui.state.draft_models, &RunHost::draft_models, model, model);
    ImGui::EndCombo();
  }
  if (!head) draw_draft_device(ui, request);
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

}  // namespace triescope::app

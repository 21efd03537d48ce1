// The run bar's fields for the model and the draft model: names, devices, data types.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <filesystem>

#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/style.h"
#include "core/files/model_name.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

// The list behind a field, and what is asked for it.
using Lists = const std::vector<CatalogEntry>& (HostAnswers::*)(bool again);

// Lists a catalog inside an open combo, read again as it opens. A click writes an entry into
// `model`.
void list_catalog(Ui& ui, Lists list, const std::string& shown, std::string& model) {
  const bool again = ImGui::IsWindowAppearing();
  const auto& entries = (ui.workspace.answers.*list)(again);
  for (const CatalogEntry& entry : entries) {
    if (ImGui::Selectable(entry.name.c_str(), entry.name == shown)) model = entry.name;
    help_tooltip(entry.path, ui.em);
  }
  if (entries.empty() && ui.workspace.answers.waiting()) ImGui::TextDisabled("asking …");
}

// Draws a model's need of memory at the right end of its line; one without room has a cross.
void draw_need(Ui& ui, const ModelFit& fit) {
  const std::string need = fit.need < 0 ? "✕"
                                        : (fit.problem.empty() ? "" : "✕ ") +
                                              viz::bytes_text(static_cast<double>(fit.need));
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(need.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
  ImGui::PushStyleColor(ImGuiCol_Text,
                        to_imgui_vec(fit.problem.empty() ? ui.theme.text_dim : problem_color(ui)));
  ImGui::TextUnformatted(need.c_str());
  ImGui::PopStyleColor();
}

// Lists the models, each with the memory that it needs.
void list_models_that_fit(Ui& ui, const std::string& shown, RunRequest& request) {
  const bool again = ImGui::IsWindowAppearing();
  const std::vector<CatalogEntry>& entries = ui.workspace.answers.models(again);
  const WhatFits& fits = ui.workspace.answers.what_fits(request, again);
  float widest = 0;
  for (const CatalogEntry& entry : entries)
    widest = std::max(widest, ImGui::CalcTextSize(entry.name.c_str()).x);
  // The list is as wide as names and needs together.
  ImGui::Dummy(ImVec2(widest + ui.em * 6, 0));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y);
  for (const CatalogEntry& entry : entries) {
    const auto fit = std::ranges::find(fits.models, entry.path, &ModelFit::path);
    if (ImGui::Selectable(entry.name.c_str(), entry.name == shown)) request.model = entry.name;
    std::string help = entry.path;
    if (fit != fits.models.end())
      help += fit->problem.empty()
                  ? "\n" + need_text(fit->need, fits.free) + " on " + request.device
                  : "\n" + fit->problem;
    help_tooltip(help, ui.em);
    if (fit != fits.models.end()) draw_need(ui, *fit);
  }
  if (entries.empty() && ui.workspace.answers.waiting()) ImGui::TextDisabled("asking …");
}

// The file name of the drafter that is used if the field stays empty; "" = none is. Starting the
// run says what is wrong with the model.
std::string default_draft_of(Ui& ui, const RunRequest& request) {
  const std::string& path = ui.workspace.answers.drafts_by_default(request);
  return std::filesystem::path(path).filename().string();
}

// The device of a draft model, where there is a choice.
void draw_draft_device(Ui& ui, RunRequest& request) {
  std::string& chosen = request.draft_device;
  if (ui.workspace.answers.devices().size() < 2 && chosen.empty()) return;
  ImGui::SetNextItemWidth(-FLT_MIN);
  const std::string shown = "drafts on " + (chosen.empty() ? "the model's device" : chosen);
  if (ImGui::BeginCombo("##draft device", shown.c_str())) {
    if (ImGui::Selectable("the model's device", chosen.empty())) chosen.clear();
    for (const DeviceInfo& device : ui.workspace.answers.devices())
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
  const std::vector<DeviceInfo>& devices = ui.workspace.answers.devices();
  // The free memory of another machine is not asked for in every list.
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

void draw_draft_field(Ui& ui, const MethodInfo& method, RunRequest& request) {
  const bool head = method.needs_draft_head(), either = method.takes_companion;
  std::string& model = request.draft_model;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight());
  const std::string before = model;
  const std::string unnamed = default_draft_of(ui, request);
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
    if (head || either) list_catalog(ui, &HostAnswers::draft_heads, model, model);
    if (!head) list_catalog(ui, &HostAnswers::draft_models, model, model);
    ImGui::EndCombo();
  }
  if (!head) draw_draft_device(ui, request);
}

void draw_model(Ui& ui, RunRequest& request) {
  const float button = ImGui::CalcTextSize("Open…").x + ImGui::GetStyle().FramePadding.x * 2 +
                       ImGui::GetStyle().ItemSpacing.x;
  const float field = ImGui::GetContentRegionAvail().x - button;
  ImGui::SetNextItemWidth(field);
  const std::vector<CatalogEntry>& catalog = ui.workspace.answers.models();
  const std::string shown =
      request.model.empty()
          ? (catalog.empty() ? (ui.workspace.answers.waiting() ? "asking …" : "none installed")
                             : catalog.front().name)
          : request.model;
  // A path is shown by its file or model name; its folders are in the tooltip.
  const std::string file = formats::folder_model_name(shown);
  const std::string fitted =
      middle_fitted(file.empty() ? shown : file,
                    field - ImGui::GetFrameHeight() - ImGui::GetStyle().FramePadding.x * 2);
  if (ImGui::BeginCombo("##model", fitted.c_str())) {
    list_models_that_fit(ui, shown, request);
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

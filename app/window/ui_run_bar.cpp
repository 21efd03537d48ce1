// The run bar: model, device, dtype, method with its parameters, prompt, limits, start.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cstdio>

#include "app/window/style.h"
#include "app/window/ui_parts.h"
#include "core/base/error.h"
#include "core/methods/registry.h"

namespace triescope::app {

namespace {

void draw_prompt_field(Ui& ui, std::string& prompt, float height) {
  const std::string before = prompt;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InputTextMultiline("##prompt", &prompt, ImVec2(-FLT_MIN, height),
                            ImGuiInputTextFlags_WordWrap);
  keep_on_escape(prompt, before);
  if (!prompt.empty() || ImGui::IsItemActive()) return;
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::GetWindowDrawList()->AddText(
      ImVec2(at.x + padding.x, at.y + padding.y), ImGui::GetColorU32(ImGuiCol_TextDisabled),
      ui.workspace.prompt_is_ids() ? "Type token ids, such as 1, 2, 3, then start"
                                   : "Type a prompt, then start");
}

// `entries`, read again as the list opens, inside an open combo; a click writes one into `model`.
void list_catalog(Ui& ui, std::vector<CatalogEntry>& entries, std::vector<CatalogEntry> (*read)(),
                  const std::string& shown, std::string& model) {
  if (ImGui::IsWindowAppearing()) entries = read();
  for (const CatalogEntry& entry : entries) {
    if (ImGui::Selectable(entry.name.c_str(), entry.name == shown)) model = entry.name;
    help_tooltip(entry.path, ui.em);
  }
}

void draw_draft_field(Ui& ui, Need need, std::string& model) {
  const bool head = need == Need::kDraftHead;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight());
  const std::string before = model;
  ImGui::InputTextWithHint("##draft model",
                           head ? "draft head: a name or a path" : "draft model: a name or a path",
                           &model);
  keep_on_escape(model, before);
  help_tooltip(
      head
          ? "Draft head: trained for this model, as a folder or a .safetensors, .bin or .pt file. Its "
            "kind is detected; the log says what was found."
          : "Draft model: a smaller one with the same vocabulary, as a name from the list, a .gguf "
            "file or a Hugging Face directory. It is loaded on the same device in the same dtype.",
      ui.em);
  ImGui::SameLine(0, 0);
  if (ImGui::BeginCombo("##draft models", "", ImGuiComboFlags_NoPreview)) {
    if (head)
      list_catalog(ui, ui.state.draft_heads, list_draft_heads, model, model);
    else
      list_catalog(ui, ui.state.catalog, list_models, model, model);
    ImGui::EndCombo();
  }
}

// A button that takes the settings of the loaded model, while the request leaves some open.
void draw_model_settings(Ui& ui, RunRequest& request) {
  const std::optional<ModelInfo>& model = ui.workspace.live().model;
  if (!model || model->generation.settings.empty()) return;
  if (ui.state.model_name != request.model) {
    ui.state.model_name = request.model;
    try {
      ui.state.model_path = resolve_model(request.model);
    } catch (const Error&) {
      ui.state.model_path.clear();
    }
  }
  if (ui.state.model_path != model->path) return;
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

}  // namespace

void draw_run_bar(Ui& ui, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, to_imgui_vec(ui.theme.surface));
  ImGui::BeginChild("run bar", size, ImGuiChildFlags_AlwaysUseWindowPadding);
  RunRequest& request = ui.workspace.request();
  const LiveStatus& live = ui.workspace.live();
  const auto heading = [&](const char* text) {
    ImGui::Dummy(ImVec2(0, ui.em * 0.15f));
    ImGui::PushFont(ui.fonts.ui_bold, 0);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
  };

  heading("Model");
  const float button = ImGui::CalcTextSize("Open…").x + ImGui::GetStyle().FramePadding.x * 2 +
                       ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button);
  const std::string shown =
      request.model.empty()
          ? (ui.state.catalog.empty() ? "none installed" : ui.state.catalog.front().name)
          : request.model;
  if (ImGui::BeginCombo("##model", shown.c_str())) {
    list_catalog(ui, ui.state.catalog, list_models, shown, request.model);
    ImGui::EndCombo();
  }
  help_tooltip(shown, ui.em);
  ImGui::SameLine();
  if (ImGui::Button("Open…")) ui.state.open(Dialog::kOpen);
  const float half = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) * 0.62f;
  ImGui::SetNextItemWidth(half);
  if (ImGui::BeginCombo("##device", request.device.c_str())) {
    for (const DeviceInfo& device : ui.workspace.devices) {
      if (ImGui::Selectable((device.id + "  " + device.name).c_str(), device.id == request.device))
        request.device = device.id;
    }
    ImGui::EndCombo();
  }
  help_tooltip(
      "Device. A GPU is listed where an NVIDIA driver answers and the CUDA libraries are "
      "installed.",
      ui.em);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##dtype", to_string(request.dtype))) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
      if (ImGui::Selectable(to_string(dtype), dtype == request.dtype)) request.dtype = dtype;
    ImGui::EndCombo();
  }
  help_tooltip(
      "Data type of weights and KV. f32 is exact; bf16 halves the memory; f16 is for CUDA.", ui.em);

  heading("Method");
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
  if (method->needs != Need::kNothing) draw_draft_field(ui, method->needs, request.draft_model);
  edit_parameters(*method, request.settings, ui.em);
  draw_model_settings(ui, request);

  const bool ids = ui.workspace.prompt_is_ids();
  heading(ids ? "Prompt, as token ids" : "Prompt");
  draw_prompt_count(ui, request);
  draw_prompt_field(ui, request.prompt, ui.em * 7);
  ImGui::BeginDisabled(ids && !request.chat);  // a template works on text
  ImGui::Checkbox("Chat template", &request.chat);
  ImGui::EndDisabled();
  help_tooltip("Put the prompt into the model's own chat format, as one user message.", ui.em);
  ImGui::SameLine(0, ui.em);
  const bool text_is_possible = !live.tokenizer || live.tokenizer->encodes_text();
  bool ticked = ids;
  ImGui::BeginDisabled(!text_is_possible);
  if (ImGui::Checkbox("Token ids", &ticked)) request.prompt_is_ids = ticked;
  ImGui::EndDisabled();
  help_tooltip(text_is_possible ? "Read the prompt as token ids separated by commas."
                                : "The loaded model has no tokenizer: its prompt is token ids "
                                  "separated by commas, and tokens are shown as their ids.",
               ui.em);
  if (ImGui::BeginTable("limits", 2)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, ui.em * 8.2f);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("max_new_tokens");
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputInt("##max", &request.max_new_tokens, 8, 64);
    request.max_new_tokens = std::clamp(request.max_new_tokens, 1, 1 << 20);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("seed");
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputScalar("##seed", ImGuiDataType_U64, &request.seed);
    ImGui::EndTable();
  }
  ImGui::Dummy(ImVec2(0, ui.em * 0.2f));
  const bool loading = live.state == LiveState::kLoading;
  ImGui::BeginDisabled(loading);
  const float third = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2;
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui_vec(ui.theme.accent.with_alpha(0.45f)));
  if (ImGui::Button("Start, paused", ImVec2(third, 0))) ui.workspace.start(false);
  ImGui::PopStyleColor();
  help_tooltip("Load the model if needed and stop before prefill, so that you can step  Ctrl+Enter",
               ui.em);
  ImGui::SameLine();
  if (ImGui::Button("Start and run", ImVec2(-FLT_MIN, 0))) ui.workspace.start(true);
  help_tooltip("Decode to the end, or to a breakpoint  Ctrl+Shift+Enter", ui.em);
  ImGui::EndDisabled();
  if (live.model) {
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
    char text[256];
    std::snprintf(text, sizeof text,
                  "loaded: %s, %d layers, %d heads / %d KV heads, vocabulary %d, context %d",
                  live.model->name.c_str(), live.model->layers, live.model->heads,
                  live.model->kv_heads, live.model->vocab_size, live.model->context);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

}  // namespace triescope::app

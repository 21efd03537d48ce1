// The run bar's controls, built from MethodInfo.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/run/parameter_groups.h"
#include "app/run/text_tools.h"
#include "app/window/ui_parts.h"

namespace triescope::app {
namespace {

using nlohmann::json;

double as_number(const json& value, double fallback) {
  if (value.is_number()) return value.get<double>();
  try {
    return std::stod(json_text(value));
  } catch (const std::exception&) {
    return fallback;
  }
}

bool as_boolean(const json& value) {
  return value.is_boolean() ? value.get<bool>() : json_text(value) == "true";
}

// A choice lists its values anyway.
std::string allowed_text(const Parameter& parameter) {
  const std::string range = range_text(parameter);
  return parameter.kind == ParameterKind::kChoice || range.empty() ? "" : "\nAllowed: " + range;
}

// One control; true if `value` changed.
bool edit(const Parameter& parameter, json& value) {
  const std::string id = "##" + parameter.name;
  switch (parameter.kind) {
    case ParameterKind::kBoolean: {
      bool on = as_boolean(value);
      if (!ImGui::Checkbox(id.c_str(), &on)) return false;
      value = on;
      return true;
    }
    case ParameterKind::kChoice: {
      const std::string current = json_text(value);
      bool changed = false;
      if (ImGui::BeginCombo(id.c_str(), current.c_str())) {
        for (const std::string& choice : parameter.choices) {
          if (!ImGui::Selectable(choice.c_str(), choice == current)) continue;
          value = choice;
          changed = true;
        }
        ImGui::EndCombo();
      }
      return changed;
    }
    case ParameterKind::kInteger: {
      auto number = static_cast<std::int64_t>(as_number(value, 0));
      constexpr std::int64_t kStep = 1, kFastStep = 5;
      const bool word = number == 0 && !parameter.zero_is.empty();
      if (!ImGui::InputScalar(id.c_str(), ImGuiDataType_S64, &number, &kStep, &kFastStep,
                              word ? parameter.zero_is.c_str() : "%lld"))
        return false;
      value = number;
      return true;
    }
    case ParameterKind::kNumber: {
      double number = as_number(value, 0);
      if (!ImGui::InputDouble(id.c_str(), &number, 0.05, 0.5, "%g")) return false;
      value = number;
      return true;
    }
    case ParameterKind::kText:
    case ParameterKind::kIntegerList: {
      std::string text = json_text(value);
      if (parameter.kind == ParameterKind::kIntegerList && text.size() >= 2 && text.front() == '[')
        text = text.substr(1, text.size() - 2);
      const std::string before = text;
      const bool edited = ImGui::InputText(id.c_str(), &text);
      keep_on_escape(text, before);
      if (!edited) return false;
      value = text;
      return true;
    }
  }
  return false;
}

// A row of a table: title and control; true if the value changed.
bool edit_row(const Ui& ui, const MethodInfo& method, const Parameter& parameter, json& settings) {
  const float em = ui.em;
  bool changed = false;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  const bool set = settings.contains(parameter.name);
  const std::string idle = no_effect_because(method, parameter.name, settings);
  const bool dim = !set || !idle.empty();
  if (dim) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
  text_fitted(parameter.title, ImGui::GetContentRegionAvail().x);
  if (dim) ImGui::PopStyleColor();
  const std::string help = (idle.empty() ? "" : "No effect now: " + idle + ".\n") +
                           parameter.title + "  (" + parameter.name + ")\n" + parameter.help +
                           allowed_text(parameter) +
                           "\nDefault: " + json_text(parameter.default_value) +
                           (set ? "\nRight-click: back to the default" : "");
  help_tooltip(help, em);
  if (set && ImGui::IsItemHovered() && ImGui::IsMouseClicked(1)) {
    settings.erase(parameter.name);
    changed = true;
  }
  ImGui::TableNextColumn();
  ImGui::SetNextItemWidth(-FLT_MIN);
  json value =
      settings.contains(parameter.name) ? settings[parameter.name] : parameter.default_value;
  ImGui::BeginDisabled(!idle.empty());
  ImGui::BeginGroup();
  if (edit(parameter, value)) {
    settings[parameter.name] = value;
    changed = true;
  }
  ImGui::EndGroup();
  ImGui::EndDisabled();
  if (!idle.empty()) help_tooltip(help, em);
  // What was typed stays, with the reason why a run would refuse it.
  if (idle.empty()) draw_problem(ui, why_refused(parameter, value));
  return changed;
}

// "Sampling", with what there is to know without opening it.
std::string heading_of(const MethodInfo& method, const ParameterGroup& group,
                       const json& settings) {
  std::size_t set = 0, idle = 0;
  for (const Parameter& parameter : group.parameters) {
    set += settings.contains(parameter.name);
    idle += !no_effect_because(method, parameter.name, settings).empty();
  }
  std::string text = group.title;
  if (idle == group.parameters.size())
    text += " (no effect)";
  else if (set > 0)
    text += " (" + std::to_string(set) + " set)";
  return text + "###" + group.title;
}

}  // namespace

bool edit_parameters(const Ui& ui, const MethodInfo& method, json& settings) {
  const float em = ui.em;
  bool changed = false;
  for (const ParameterGroup& group : parameter_groups(method)) {
    const auto is_set = [&](const Parameter& p) { return settings.contains(p.name); };
    const auto is_idle = [&](const Parameter& p) {
      return !no_effect_because(method, p.name, settings).empty();
    };
    const bool idle = std::ranges::all_of(group.parameters, is_idle);
    const bool open = !idle && (!group.folded || std::ranges::any_of(group.parameters, is_set));
    // A method is a tree of its own; what has no effect folds itself away, and can be opened.
    ImGui::PushID((method.name + group.title + (idle ? " idle" : "")).c_str());
    const bool shown =
        ImGui::TreeNodeEx(heading_of(method, group, settings).c_str(),
                          ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen |
                              (open ? ImGuiTreeNodeFlags_DefaultOpen : 0));
    if (idle) help_tooltip(no_effect_because(method, group.parameters.front().name, settings), em);
    if (shown && ImGui::BeginTable("parameters", 2)) {
      ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.0f);
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, em * 8.2f);
      for (const Parameter& parameter : group.parameters)
        changed |= edit_row(ui, method, parameter, settings);
      ImGui::EndTable();
    }
    ImGui::PopID();
  }
  return changed;
}

}  // namespace triescope::app

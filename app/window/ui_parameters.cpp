// The run bar's controls, built from MethodInfo.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>
#include <cmath>

#include "app/run/text_tools.h"
#include "app/window/ui_parts.h"

namespace triescope::app {
namespace {

using nlohmann::json;

// The current value as text, whatever its JSON type (scripts and the command line give text).
std::string as_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

double as_number(const json& value, double fallback) {
  if (value.is_number()) return value.get<double>();
  try {
    return std::stod(as_text(value));
  } catch (const std::exception&) {
    return fallback;
  }
}

bool as_boolean(const json& value) {
  return value.is_boolean() ? value.get<bool>() : as_text(value) == "true";
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
      const std::string current = as_text(value);
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
      int number = static_cast<int>(as_number(value, 0));
      if (!ImGui::InputInt(id.c_str(), &number, 1, 5)) return false;
      if (std::isfinite(parameter.minimum))
        number = std::max(number, static_cast<int>(parameter.minimum));
      if (std::isfinite(parameter.maximum)) number = std::min<double>(number, parameter.maximum);
      value = number;
      return true;
    }
    case ParameterKind::kNumber: {
      double number = as_number(value, 0);
      if (!ImGui::InputDouble(id.c_str(), &number, 0.05, 0.5, "%g")) return false;
      if (std::isfinite(parameter.minimum)) number = std::max(number, parameter.minimum);
      if (std::isfinite(parameter.maximum)) number = std::min(number, parameter.maximum);
      value = number;
      return true;
    }
    case ParameterKind::kText:
    case ParameterKind::kIntegerList: {
      std::string text = as_text(value);
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

}  // namespace

bool edit_parameters(const MethodInfo& method, json& settings, float em) {
  bool changed = false;
  const auto rows = [&](std::span<const Parameter> parameters, const char* table) {
    if (!ImGui::BeginTable(table, 2)) return;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, em * 8.2f);
    for (const Parameter& parameter : parameters) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::AlignTextToFramePadding();
      const bool set = settings.contains(parameter.name);
      if (set) {
        text_fitted(parameter.name, ImGui::GetContentRegionAvail().x);
      } else {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        text_fitted(parameter.name, ImGui::GetContentRegionAvail().x);
        ImGui::PopStyleColor();
      }
      help_tooltip(parameter.name + "\n" + parameter.help + allowed_text(parameter) +
                       "\nDefault: " + as_text(parameter.default_value) +
                       (set ? "\nRight-click: back to the default" : ""),
                   em);
      if (set && ImGui::IsItemHovered() && ImGui::IsMouseClicked(1)) {
        settings.erase(parameter.name);
        changed = true;
      }
      ImGui::TableNextColumn();
      ImGui::SetNextItemWidth(-FLT_MIN);
      json value =
          settings.contains(parameter.name) ? settings[parameter.name] : parameter.default_value;
      if (edit(parameter, value)) {
        settings[parameter.name] = value;
        changed = true;
      }
    }
    ImGui::EndTable();
  };
  rows(method.parameters, "parameters");
  if (ImGui::TreeNodeEx("For every method", ImGuiTreeNodeFlags_SpanAvailWidth)) {
    rows(common_parameters(), "common");
    ImGui::TreePop();
  }
  return changed;
}

}  // namespace triescope::app

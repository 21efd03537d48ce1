// The run bar's controls, built from a method's MethodInfo.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>

#include "app/session/parameter_groups.h"
#include "app/session/text_tools.h"
#include "app/session/typed_number.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/number_field.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

using nlohmann::json;

bool as_boolean(const json& value) {
  return value.is_boolean() ? value.get<bool>() : json_text(value) == "true";
}

// The range of a parameter; "" for a choice, which lists its values itself.
std::string allowed_text(const Parameter& parameter) {
  const std::string range = range_text(parameter);
  return parameter.kind == ParameterKind::kChoice || range.empty() ? "" : "\nAllowed: " + range;
}

std::string default_text(const Parameter& parameter) {
  const std::string word = word_of(parameter, parameter.default_value);
  return word.empty() ? json_text(parameter.default_value) : word;
}

// Draws one control, which may change `value`.
NumberAnswer edit(const Ui& ui, const Parameter& parameter, json& value) {
  const std::string id = "##" + parameter.name;
  switch (parameter.kind) {
    case ParameterKind::kBoolean: {
      bool on = as_boolean(value);
      const bool changed = ImGui::Checkbox(id.c_str(), &on);
      if (changed) value = on;
      return {.changed = changed};
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
      return {.changed = changed};
    }
    case ParameterKind::kInteger:
    case ParameterKind::kNumber: {
      const bool whole = parameter.kind == ParameterKind::kInteger;
      return number_field(
          ui.state.number_edit, id.c_str(),
          {.text = typed_text(parameter, value),
           .take = [&](const std::string& text) { value = read_typed(parameter, text); },
           .step =
               [&](int direction, bool fast) {
                 value = stepped(parameter, value,
                                 direction * (whole ? (fast ? 5 : 1) : (fast ? 0.5 : 0.05)));
               }});
    }
    case ParameterKind::kText:
    case ParameterKind::kIntegerList: {
      std::string text = json_text(value);
      if (parameter.kind == ParameterKind::kIntegerList && text.size() >= 2 && text.front() == '[')
        text = text.substr(1, text.size() - 2);
      const std::string before = text;
      const bool edited = ImGui::InputTextWithHint(id.c_str(), parameter.empty_is.c_str(), &text);
      keep_on_escape(text, before);
      if (edited) value = text;
      return {.changed = edited};
    }
  }
  return {};
}

// A table row with title and control; true if the value changed.
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
                           allowed_text(parameter) + "\nDefault: " + default_text(parameter) +
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
  const NumberAnswer answer = edit(ui, parameter, value);
  if (answer.changed) {
    // The default is no setting where it only came back in place of a refused text.
    if (answer.restored && value == parameter.default_value)
      settings.erase(parameter.name);
    else
      settings[parameter.name] = value;
    changed = true;
  }
  ImGui::EndGroup();
  ImGui::EndDisabled();
  if (!idle.empty()) help_tooltip(help, em);
  // The typed value stays, with the reason why a run would refuse it.
  if (idle.empty())
    draw_problem(ui, answer.problem.empty() ? why_refused(parameter, value) : answer.problem);
  return changed;
}

// "Sampling", with a summary of what is set in the group.
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
    // The key holds the method's name, so that each method folds on its own. It also holds `idle`:
    // a group without effect folds itself, and can be opened.
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

// Dialogs about the run: its breakpoints, and branching off with another token.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>

#include "app/session/typed_number.h"
#include "app/window/dialogs/dialog_rows.h"
#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/shell/number_field.h"
#include "app/window/shell/style.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/method/settings.h"
#include "viz/draw/node_text.h"
#include "viz/text/token_text.h"

namespace triescope::app {
namespace {

// Edits the number or text of a breakpoint; true if it changed.
bool edit_breakpoint(Ui& ui, Breakpoint& point) {
  const float em = ui.em;
  const float width = ImGui::GetContentRegionAvail().x - em * 5.5f;  // the button beside it
  ImGui::SetNextItemWidth(std::max(em * 5, width));
  if (needs_text(point.kind)) {
    const std::string before = point.text;
    const bool edited = ImGui::InputText("##text", &point.text);
    keep_on_escape(point.text, before);
    help_tooltip(
        point.kind == BreakKind::kText ? "A part of one token's text, spaces as they are or as ·"
        : point.kind == BreakKind::kWhere
            ? "A condition on a step or on a node that it decided, as Ctrl+Shift+F takes it: "
              "accepted >= 1 and refused > 0. A run stops once the step is done."
            : "A regular expression (ECMAScript), searched for in one token's text. Without "
              "look-aheads and back references.",
        em);
    return edited;
  }
  // Entropy in nats; steps, tokens and positions are counted.
  const bool whole = point.kind != BreakKind::kEntropyAbove;
  static const Parameter kCount = integer("number", "", 0, 0, INT32_MAX, ""),
                         kEntropy = number("number", "", 0, 0, 1e6, "");
  const Parameter& parameter = whole ? kCount : kEntropy;
  const auto set = [&](const nlohmann::json& typed) {
    read_setting(parameter, typed);  // refuses what could never be hit
    point.threshold = typed.get<double>();
  };
  const NumberAnswer answer = number_field(
      ui.state.number_edit, "##number",
      {.text = typed_text(parameter, point.threshold),
       .take = [&](const std::string& text) { set(read_typed(parameter, text)); },
       .step =
           [&](int direction, bool fast) {
             const double by = direction * (whole ? (fast ? 100 : 1) : (fast ? 1 : 0.1));
             point.threshold = std::max(0.0, stepped(parameter, point.threshold, by).get<double>());
           }});
  if (!whole)
    help_tooltip(
        "Entropy of the next token in nats, from the recorded candidates: what they leave "
        "counts as one token. Needs candidates > 0.",
        em);
  draw_problem(ui, answer.problem);
  return answer.changed;
}

// Says how the model splits the typed text: only its first token is forced.
std::string reading_of(Workspace& workspace, const std::string& text) {
  const LiveStatus& live = workspace.live();
  if (text.empty()) return "";
  const auto& known = workspace.answers.tokens_of(text);
  if (!known) return "asking …";
  const std::vector<std::int32_t>& tokens = *known;
  if (tokens.empty()) return "the loaded model takes no text: choose a token below";
  std::string shown;
  for (std::size_t i = 0; i < tokens.size() && i < 8; ++i)
    shown += (i ? " | " : "") + viz::token_text(live.tokenizer->piece(tokens[i]));
  if (tokens.size() == 1) return "one token: " + shown;
  return counted(tokens.size(), "token") + ": " + shown + ". The first is forced.";
}

// A table whose rows can be clicked. Returns the clicked token; -1 = none.
std::int32_t choose_candidate(const std::vector<WhatIfRow>& rows, float em) {
  std::int32_t chosen = -1;
  if (!ImGui::BeginTable("candidates", 5, ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg))
    return chosen;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("rank", ImGuiTableColumnFlags_WidthFixed, em * 3);
  ImGui::TableSetupColumn("token", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("p", ImGuiTableColumnFlags_WidthFixed, em * 5);
  ImGui::TableSetupColumn("log p", ImGuiTableColumnFlags_WidthFixed, em * 5);
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, em * 4);
  ImGui::TableHeadersRow();
  const auto number = [](const std::string& text) {
    ImGui::TableNextColumn();
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
    ImGui::TextUnformatted(text.c_str());
  };
  for (const WhatIfRow& row : rows) {
    ImGui::TableNextColumn();
    const std::string label = row.rank + "###" + std::to_string(row.token);
    if (ImGui::Selectable(label.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
      chosen = row.token;
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(row.text.c_str());
    number(row.p);
    number(row.logprob);
    ImGui::TableNextColumn();
    if (row.taken) ImGui::TextDisabled("taken");
  }
  ImGui::EndTable();
  return chosen;
}

}  // namespace

bool draw_breakpoints(Ui& ui) {
  auto& [points, problem, add, focus_last] = ui.state.dialogs.breakpoints;
  bool changed = false;
  if (ui.state.dialog_just_opened) {
    points = ui.workspace.run.breakpoints();
    problem.clear();
    if (add) points.push_back(new_breakpoint(*add));
    changed = focus_last = add.has_value();
    add.reset();
  }
  ImGui::PushTextWrapPos(0);
  if (points.empty())
    ImGui::TextDisabled("None yet. Running stops after the phase in which one is hit.");
  for (std::size_t i = 0; i < points.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    changed |= ImGui::Checkbox("##on", &points[i].enabled);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(break_words(points[i].kind).c_str());
    if (needs_threshold(points[i].kind) || needs_text(points[i].kind)) {
      ImGui::SameLine();
      if (focus_last && i + 1 == points.size()) {
        ImGui::SetKeyboardFocusHere();
        focus_last = false;
      }
      changed |= edit_breakpoint(ui, points[i]);
    }
    ImGui::SameLine();
    const bool remove = ImGui::Button("Remove");
    ImGui::PopID();
    if (!remove) continue;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
    break;
  }
  ImGui::PushStyleColor(
      ImGuiCol_Text,
      to_imgui_vec(ui.theme.legible(ui.theme.mark(capture::NodeState::kRejected).color)));
  if (!problem.empty()) ImGui::TextUnformatted(("✕ " + problem).c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::Separator();
  ImGui::TextDisabled("Add");
  for (const BreakKind kind : all_break_kinds()) {
    if (ImGui::Selectable(describe(new_breakpoint(kind)).c_str(), false,
                          ImGuiSelectableFlags_NoAutoClosePopups)) {
      points.push_back(new_breakpoint(kind));
      changed = true;
    }
  }
  if (!changed) return false;
  try {
    ui.workspace.run.set_breakpoints(points);
    problem.clear();
  } catch (const Error& error) {
    problem = error.what();  // the breakpoints before stay in force
  }
  return false;
}

bool draw_what_if(Ui& ui) {
  Document* document = ui.workspace.active();
  if (!document) return true;
  const WhatIf at = what_if_at(*document->capture, document->cursor, document->focus.node());
  if (at.node < 0) {
    ImGui::TextDisabled("Lock a node in the trie (click it), then come back.");
    return false;
  }
  viz::Scene scene;
  scene.capture = document->capture.get();
  scene.cursor = document->cursor;
  const std::string after =
      at.node == 0 ? "the prompt"
                   : viz::node_text(scene, at.node) + " (node " + std::to_string(at.node) + ")";
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(("Continue after " + after + " with another token.").c_str());
  const bool live = ui.workspace.documents.active_is_live();
  if (!live)
    ImGui::TextDisabled(
        "Only the newest run of this window can be continued. Take over the run shown (Ctrl+G), "
        "start it, and come back.");
  ImGui::PopTextWrapPos();
  std::string& text = ui.state.dialogs.what_if_text;
  if (ui.state.dialog_just_opened) {
    text.clear();
    ImGui::SetKeyboardFocusHere();
  }
  bool done = false;
  ImGui::BeginDisabled(!live);
  const float button = ImGui::CalcTextSize("Force it").x + ui.em * 2;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button);
  const bool enter = ImGui::InputTextWithHint("##token", "type a token; a leading space counts",
                                              &text, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const auto& tokens = ui.workspace.answers.tokens_of(text);
  const bool can = tokens && !tokens->empty();
  ImGui::BeginDisabled(!can);
  const bool force = ImGui::Button("Force it");
  ImGui::EndDisabled();
  // The line is drawn even while empty, so that the list stays in its place.
  ImGui::TextDisabled("%s", reading_of(ui.workspace, text).c_str());
  if (can && (enter || force)) {
    ui.workspace.run.branch_with(at.node, text);
    done = true;
  }
  if (at.rows.empty()) {
    ImGui::TextDisabled("No candidates were recorded for this node.");
  } else if (const std::int32_t token = choose_candidate(at.rows, ui.em); token >= 0) {
    ui.workspace.run.branch(at.node, token);
    done = true;
  }
  ImGui::EndDisabled();
  return done;
}

}  // namespace triescope::app

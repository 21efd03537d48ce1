#include "app/window/ui.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/window/style.h"
#include "viz/words/number_text.h"

namespace triescope::app {
namespace {

constexpr float kRunBarEm = 21;  // width
// Below this the run bar gives way to the panes once a capture is open; F2 brings it back.
constexpr float kRunBarMinWindowEm = 66;

}  // namespace

void help_tooltip(const std::string& text, float em) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(em * 30);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void text_fitted(const std::string& text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) {
    ImGui::TextUnformatted(text.c_str());
    return;
  }
  // Cut in the middle, never within a UTF-8 character.
  std::size_t keep = text.size();
  std::string cut = text;
  const auto boundary = [&](std::size_t at) {
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      --at;
    return at;
  };
  while (keep > 2 && ImGui::CalcTextSize(cut.c_str()).x > width) {
    keep -= std::max<std::size_t>(1, keep / 16);
    cut = text.substr(0, boundary(keep / 2)) + "…" + text.substr(boundary(text.size() - keep / 2));
  }
  ImGui::TextUnformatted(cut.c_str());
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text.c_str());
}

bool Ui::command_button(const char* id, const char* label, bool primary) {
  const Command* command = commands.find(id);
  const bool enabled = command->is_enabled();
  ImGui::BeginDisabled(!enabled);
  if (primary) ImGui::PushStyleColor(ImGuiCol_Button, to_imgui_vec(theme.accent.with_alpha(0.45f)));
  const bool pressed = ImGui::Button(label);
  if (primary) ImGui::PopStyleColor();
  ImGui::EndDisabled();
  help_tooltip(
      command->title + (command->chords.empty() ? "" : "  " + to_string(command->chords.front())),
      em);
  if (pressed) command->run();
  return pressed;
}

void Ui::draw_menu() {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string& menu : menu_names()) {
    if (!ImGui::BeginMenu(menu.c_str())) continue;
    for (const Command& command : commands.all()) {
      if (command.menu != menu) continue;
      if (command.separator_before) ImGui::Separator();
      const std::string chord = command.chords.empty() ? "" : to_string(command.chords.front());
      if (ImGui::MenuItem(command.title.c_str(), chord.c_str(),
                          command.checked && command.checked(), command.is_enabled()))
        command.run();
      if (!command.help.empty()) help_tooltip(command.help, em);
      if (command.id == "open" && !workspace.preferences.recent_captures.empty() &&
          ImGui::BeginMenu("Open recent")) {
        // A copy: opening one reorders the list.
        for (const std::string& path :
             std::vector<std::string>(workspace.preferences.recent_captures))
          if (ImGui::MenuItem(path.c_str())) workspace.open_capture(path);
        ImGui::EndMenu();
      }
    }
    ImGui::EndMenu();
  }
  ImGui::EndMenuBar();
}

void Ui::draw_tool_bar() {
  const LiveStatus& live = workspace.live();
  const Document* document = workspace.active();
  const bool running = workspace.active_is_live() && live.state == LiveState::kRunning;
  const bool playing = document && document->playing;

  command_button("run-bar", state.run_bar_open(workspace.preferences) ? "‹ Run bar" : "Run bar ›");
  ImGui::SameLine();
  command_button("start", "Start", /*primary=*/!document);
  ImGui::SameLine(0, em);
  command_button("back", "‹ Back");
  ImGui::SameLine();
  command_button("step", "Step ›", /*primary=*/document && !running);
  ImGui::SameLine();
  command_button("step-phase", "Phase ›");
  ImGui::SameLine();
  // One width for both words: the bar must not jump.
  const ImVec2 run_size(ImGui::CalcTextSize("Pause").x + ImGui::GetStyle().FramePadding.x * 2, 0);
  if (ImGui::Button(running || playing ? "Pause" : "Run", run_size)) workspace.toggle_run();
  help_tooltip("Run or pause the decoder; a finished capture plays  F5", em);
  ImGui::SameLine();
  command_button("stop", "Stop");
  ImGui::SameLine();
  command_button("restart", "Restart");
  ImGui::SameLine(0, em);
  if (!document) {
    ImGui::NewLine();
    return;
  }

  // Where the cursor stands, in words and colour, and the way back to now.
  const capture::Tick end = document->capture->end_tick();
  const bool now = document->cursor >= end;
  char position[96];
  const bool over = now && (!workspace.active_is_live() || live.state == LiveState::kDone);
  if (over) {
    std::snprintf(position, sizeof position, "end, %d steps", document->capture->last_step() + 1);
  } else {
    std::snprintf(position, sizeof position, "next: step %d, %s",
                  capture::step_of(document->cursor),
                  capture::to_string(capture::phase_of(document->cursor)));
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(position);
  help_tooltip("The cursor shows what comes next. Everything on the screen is the state before it.",
               em);
  if (!now || !document->follow) {
    const std::string back = workspace.active_is_live() ? "Back to now" : "To the end";
    const int steps = std::max(0, capture::step_of(end) - capture::step_of(document->cursor));
    const std::string ahead =
        " (" + std::to_string(steps) + (steps == 1 ? " step ahead)" : " steps ahead)");
    const float room = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x -
                       ImGui::GetItemRectMax().x - em - 2 * ImGui::GetStyle().FramePadding.x;
    const auto fits = [&](const std::string& label) {
      return ImGui::CalcTextSize(label.c_str()).x <= room;
    };
    // Where even the short form has no room, the key and the menu do it.
    if (fits(back)) {
      ImGui::SameLine(0, em);
      ImGui::BeginDisabled(now);
      if (ImGui::Button((back + (fits(back + ahead) ? ahead : "") + "###follow").c_str()))
        workspace.follow();
      ImGui::EndDisabled();
      help_tooltip(back + ahead, em);
    }
  }
}

void Ui::draw_documents() {
  if (workspace.documents().size() < 2 && !workspace.active()) return;
  if (!ImGui::BeginTabBar(
          "documents", ImGuiTabBarFlags_AutoSelectNewTabs | ImGuiTabBarFlags_FittingPolicyScroll))
    return;
  static const Document* last_active = nullptr;
  Document* closing = nullptr;
  for (const auto& document : workspace.documents()) {
    bool open = true;
    const bool select = document.get() == workspace.active() && last_active != workspace.active();
    const std::string label = document->title + "###document" + std::to_string(document->serial);
    const bool shown =
        ImGui::BeginTabItem(label.c_str(), &open, select ? ImGuiTabItemFlags_SetSelected : 0);
    help_tooltip(document->path + "\nmethod " + document->capture->run().method + ", settings " +
                     document->capture->run().settings_json,
                 em);
    if (shown) {
      if (!select && last_active == workspace.active()) workspace.activate(document.get());
      ImGui::EndTabItem();
    }
    if (!open) closing = document.get();
  }
  last_active = workspace.active();
  ImGui::EndTabBar();
  if (closing) workspace.close_document(closing);
}

void Ui::draw_problems() {
  const LiveStatus& live = workspace.live();
  if (!workspace.problems.empty()) {
    const std::string text = workspace.problems.front();
    const float width = ImGui::GetContentRegionAvail().x;
    const float button_width = em * 11;
    const float wrap = std::max(em * 12, width - button_width - em * 2);
    const float height =
        std::min(ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap - em * 1.4f).y, em * 9) +
        em * 1.3f;
    ImGui::PushStyleColor(
        ImGuiCol_ChildBg,
        to_imgui_vec(theme.mark(capture::NodeState::kRejected).color.with_alpha(0.22f)));
    ImGui::BeginChild("problem", ImVec2(width, std::max(height, em * 2.4f)), false,
                      ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::BeginChild("problem text", ImVec2(wrap, 0));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(("✕ " + text).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
    ImGui::SameLine();
    if (ImGui::Button("Copy")) ImGui::SetClipboardText(text.c_str());
    ImGui::SameLine();
    char label[48];
    std::snprintf(
        label, sizeof label,
        workspace.problems.size() > 1 ? "Dismiss (1 of %zu)###dismiss" : "Dismiss###dismiss",
        workspace.problems.size());
    if (ImGui::Button(label)) workspace.problems.erase(workspace.problems.begin());
    ImGui::EndChild();
    ImGui::PopStyleColor();
  }
  if (!live.pause_reason.empty() && live.state == LiveState::kPaused) {
    ImGui::PushStyleColor(ImGuiCol_Text,
                          to_imgui_vec(theme.mark(capture::NodeState::kBonus).color));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(("● breakpoint — " + live.pause_reason).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  if (!live.progress.empty() || workspace.exporting()) {
    const bool exporting = workspace.exporting() && live.progress.empty();
    const double share = exporting                 ? workspace.export_share()
                         : live.progress_total > 0 ? live.progress_done / live.progress_total
                                                   : 0;
    char label[160];
    std::snprintf(label, sizeof label, "%s  %.0f %%",
                  exporting ? "exporting" : live.progress.c_str(), share * 100);
    ImGui::ProgressBar(static_cast<float>(share),
                       ImVec2(std::max(em * 10, ImGui::GetContentRegionAvail().x - em * 6), 0),
                       label);
    ImGui::SameLine();
    if (ImGui::Button("Cancel")) workspace.cancel();
  }
}

void Ui::draw_status_line() {
  const LiveStatus& live = workspace.live();
  const Document* document = workspace.active();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(theme.text_dim));
  std::string left = to_string(live.state);
  if (document) {
    const capture::RunInfo& run = document->capture->run();
    left += "  ·  " + run.method + "  ·  KV " + run.kv_policy;
    const std::int32_t shown = document->cursor > 0 ? capture::step_of(document->cursor - 1) : -1;
    if (const auto step = document->capture->step(shown); step && step->drafted > 0)
      left += "  ·  accepted " + std::to_string(step->accepted) + " of " +
              std::to_string(step->drafted);
    double total_us = 0;
    const auto phases = document->capture->phases();
    auto phase = std::lower_bound(
        phases.begin(), phases.end(),
        capture::make_tick(std::max(0, shown), capture::Phase::kDraft),
        [](const capture::PhaseRow& row, capture::Tick tick) { return row.tick < tick; });
    for (; phase != phases.end() && capture::step_of(phase->tick) == shown; ++phase)
      total_us += static_cast<double>(phase->duration_us);
    if (total_us > 0)
      left += "  ·  step " + std::to_string(shown) + " took " + viz::duration_text(total_us);
  }
  std::string right;
  if (!workspace.messages.empty()) right = workspace.messages.back().text;
  const float width = ImGui::GetContentRegionAvail().x;
  const float left_width = std::min(ImGui::CalcTextSize(left.c_str()).x + em, width * 0.6f);
  text_fitted(left, left_width);
  if (!right.empty() && width - left_width > em * 8) {
    ImGui::SameLine(left_width + em * 2);
    const auto newline = right.find('\n');
    text_fitted(newline == std::string::npos ? right : right.substr(0, newline) + " …",
                width - left_width - em * 2);
  }
  ImGui::PopStyleColor();
}

void Ui::draw() {
  animating = false;
  visible_panels.clear();
  state.hovered_panel.clear();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
  ImGui::Begin("triescope", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_MenuBar |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleVar(2);
  state.narrow = viewport->Size.x < em * kRunBarMinWindowEm;
  const std::size_t documents = workspace.documents().size();
  if (documents != state.seen_documents) state.run_bar_when_narrow = documents == 0;
  state.seen_documents = documents;
  draw_menu();
  draw_tool_bar();
  draw_problems();
  draw_documents();
  workspace.sync_partner();

  const float status_height = ImGui::GetTextLineHeightWithSpacing() + em * 0.1f;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float body_height = std::max(em * 6, room.y - status_height);
  const bool run_bar = state.run_bar_open(workspace.preferences) && workspace.maximised.empty();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float panes_x = origin.x, panes_width = room.x;
  if (run_bar) {
    const float width = std::min(em * kRunBarEm, room.x * 0.55f);
    draw_run_bar(ImVec2(width, body_height));
    panes_x += width + em * 0.4f;
    panes_width -= width + em * 0.4f;
  }
  viz::Rect area{panes_x, origin.y, panes_width, body_height};
  if (workspace.comparing() && workspace.active()) {
    ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
    const float strip = draw_compare_strip(area.w) + em * 0.3f;
    area.y += strip;
    area.h = std::max(em * 3, area.h - strip);
  }
  if (workspace.active()) {
    draw_panes(area);
  } else {
    draw_empty(area);
  }
  ImGui::SetCursorScreenPos(ImVec2(origin.x, origin.y + body_height + em * 0.15f));
  draw_status_line();
  ImGui::End();
  draw_dialogs();
}

}  // namespace triescope::app

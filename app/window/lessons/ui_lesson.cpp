// The lesson pane: a step's pieces, and the way through the steps.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/lessons/lesson_card.h"
#include "app/window/lessons/ui_lesson.h"
#include "app/window/lessons/ui_lesson_parts.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

using lessons::Predict;
using lessons::Task;

constexpr float kAudienceChart = 1.16f;  // em of the text: a chart's smallest letters have 0.74 em

// Where the last question drawn stands, from the top; negative = there is none.
struct Drawn {
  float question = -1;
  bool open = false;  // nobody has answered it
};

void draw_task(Ui& ui, std::size_t piece, const Task& task, float width, Reader reader,
               int& links) {
  LessonPlayer& lesson = ui.workspace.lesson;
  const bool met = lesson.is_met(piece);
  const viz::Mark mark =
      ui.theme.mark(met ? capture::NodeState::kAccepted : capture::NodeState::kPending);
  LessonCard card(ui, width, met ? mark.color : ui.theme.text_dim);
  bold_line(ui, met ? "Done." : "Your turn");
  draw_block(ui, task.text.block, card.inner(), links);
  if (reader == Reader::kAudience) return;
  if (ImGui::SmallButton(met ? "Show it again" : "Show me")) {
    lesson.show_me(piece);
    ui.animating = true;
  }
  name_part(ui, "show me");
}

void draw_notes(Ui& ui, const lessons::Notes& notes, float width, int& links) {
  LessonCard card(ui, width, ui.theme.text_dim);
  bold_line(ui, "For the lecturer");
  for (const lessons::Block& block : notes.blocks) draw_block(ui, block, card.inner(), links);
}

Drawn draw_step(Ui& ui, float width, Reader reader) {
  LessonPlayer& lesson = ui.workspace.lesson;
  Drawn drawn;
  if (reader == Reader::kOne) draw_writing(ui, width);
  if (!lesson.is_open()) return drawn;
  ImGui::PushFont(ui.fonts.ui_bold, ui.em * 1.3f);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::TextUnformatted(lesson.shown_step().title.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::Dummy(ImVec2(0, ui.em * 0.2f));
  if (!lesson.ready()) ImGui::TextDisabled("The run is being decoded …");
  int links = 0;
  const std::size_t step = lesson.step();
  const std::string id = lesson.lesson().id;
  for (std::size_t i = 0; i < lesson.shown_pieces(); ++i) {
    const lessons::Piece& piece = lesson.shown_step().pieces[i];
    ImGui::PushID(static_cast<int>(i));
    if (const auto* const block = std::get_if<lessons::Block>(&piece))
      draw_block(ui, *block, width, links);
    if (const auto* const predict = std::get_if<Predict>(&piece)) {
      drawn = {.question = ImGui::GetCursorPosY(), .open = !lesson.given(i)};
      draw_question(ui, i, *predict, width, reader, links);
    }
    if (const auto* const task = std::get_if<Task>(&piece))
      draw_task(ui, i, *task, width, reader, links);
    if (const auto* const experiment = std::get_if<lessons::Experiment>(&piece)) {
      const float em = ui.em;
      if (reader == Reader::kAudience) ui.em = std::ceil(em * kAudienceChart);
      draw_experiment(ui, i, *experiment, width, links);
      ui.em = em;
    }
    if (const auto* const notes = std::get_if<lessons::Notes>(&piece);
        notes && ui.state.lesson_notes && reader == Reader::kOne)
      draw_notes(ui, *notes, width, links);
    ImGui::PopID();
    // A link may have opened another lesson.
    if (!lesson.is_open() || lesson.lesson().id != id || lesson.step() != step) return drawn;
  }
  return drawn;
}

void draw_head(Ui& ui) {
  LessonPlayer& lesson = ui.workspace.lesson;
  const std::string title = lesson.lesson().lesson.about.title;
  const bool records = !lesson.path().empty() && !lesson.recorder();
  const float record = records ? ImGui::CalcTextSize("Record").x + ui.em * 1.6f : 0;
  const float button = ImGui::CalcTextSize("Leave").x + ui.em * 1.2f + record;
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  text_fitted(title, ImGui::GetContentRegionAvail().x - button);
  ImGui::PopStyleColor();
  ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - button);
  if (records) {
    command_button(ui, "lesson-record", "Record");
    name_part(ui, "record");
    ImGui::SameLine();
  }
  if (command_button(ui, "lesson-close", "Leave")) return;
  name_part(ui, "leave");
  // The progress bar has a mark for every step, the present one filled.
  const float width = ImGui::GetContentRegionAvail().x, gap = ui.em * 0.25f;
  const auto count = static_cast<float>(lesson.steps());
  const float w = (width - gap * (count - 1)) / count;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < lesson.steps(); ++i) {
    const ImVec2 corner(at.x + static_cast<float>(i) * (w + gap), at.y);
    ImGui::SetCursorScreenPos(corner);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("step", ImVec2(std::max(1.0f, w), ui.em * 0.8f),
                               ImGuiButtonFlags_EnableNav))
      lesson.go_to(i);
    name_part(ui, "step " + std::to_string(i + 1));
    help_tooltip(std::to_string(i + 1) + " of " + std::to_string(lesson.steps()) + ": " +
                     lesson.lesson().lesson.steps[i].title,
                 ui.em);
    const bool over = ImGui::IsItemHovered();
    ImGui::PopID();
    const viz::Color color = i <= lesson.step() ? ui.theme.accent : ui.theme.border;
    list->AddRectFilled(
        ImVec2(corner.x, corner.y + ui.em * 0.25f),
        ImVec2(corner.x + w, corner.y + ui.em * (i == lesson.step() || over ? 0.6f : 0.45f)),
        to_imgui(color), ui.em * 0.15f);
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + ui.em));
}

void draw_foot(Ui& ui) {
  LessonPlayer& lesson = ui.workspace.lesson;
  const bool last = lesson.step() + 1 == lesson.steps();
  command_button(ui, "lesson-back", "Back");
  name_part(ui, "back");
  ImGui::SameLine();
  if (!last) {
    command_button(ui, "lesson-next", "Next", /*primary=*/!lesson.open_question());
    name_part(ui, "next");
  } else if (!lesson.next_lesson().empty()) {
    command_button(ui, "lesson-next", "Next lesson", /*primary=*/lesson.at_the_end());
    name_part(ui, "next");
  } else {
    command_button(ui, "lessons", "Lessons…", /*primary=*/lesson.at_the_end());
  }
  if (!lesson.is_open()) return;
  ImGui::SameLine();
  command_button(ui, "lesson-again", "Show again");
  name_part(ui, "again");
  const std::string place =
      std::to_string(lesson.step() + 1) + " of " + std::to_string(lesson.steps());
  const float w = ImGui::CalcTextSize(place.c_str()).x;
  ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - w);
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", place.c_str());
}

}  // namespace

void draw_lesson_notes(Ui& ui, float width) {
  int links = 0;
  for (const lessons::Piece& piece : ui.workspace.lesson.shown_step().pieces)
    if (const auto* const notes = std::get_if<lessons::Notes>(&piece))
      draw_notes(ui, *notes, width, links);
}

void draw_lesson_to_audience(Ui& ui, viz::Rect place, float em) {
  LessonPlayer& lesson = ui.workspace.lesson;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImVec2 corner(place.x, place.y), end(place.right(), place.bottom());
  list->AddRectFilled(corner, end, to_imgui(ui.theme.background), em * 0.2f);
  list->AddRect(corner, end, to_imgui(ui.theme.border), em * 0.2f, 1.5f);
  const float pad = std::round(em * 0.7f);
  const float window_em = std::exchange(ui.em, em);
  ImGui::PushFont(ui.fonts.ui, em);
  ui.note_text(em);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(em * 0.5f, em * 0.45f));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, em * 0.4f);
  ImGui::SetCursorScreenPos(ImVec2(place.x + pad, place.y + pad));
  const std::string shown = lesson.version() + lesson.lesson().id + "/" +
                            std::to_string(lesson.step()) + "/" +
                            std::to_string(lesson.shown_pieces());
  // Space belongs to the lecturer's clicker, whatever was clicked last.
  ImGui::BeginChild("lesson", ImVec2(place.w - 1.5f * pad, place.h - 2 * pad), 0,
                    ImGuiWindowFlags_NoNav);
  const Drawn drawn = draw_step(ui, place.w - 2.2f * pad, Reader::kAudience);
  // A step that does not fit is scrolled once: an open question to its end, else its answer from
  // the question on.
  if (std::exchange(ui.state.lesson_to_audience, shown) != shown) {
    if (drawn.open)
      ImGui::SetScrollHereY(1);
    else
      ImGui::SetScrollY(std::max(0.0f, drawn.question));
    ui.animating = true;
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(3);
  ImGui::PopFont();
  ui.em = window_em;
}

void draw_lesson(Ui& ui, ImVec2 size) {
  LessonPlayer& lesson = ui.workspace.lesson;
  const float pad = ui.em * 0.7f;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, pad * 0.7f));
  ImGui::BeginChild("lesson", size, ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  draw_head(ui);
  if (lesson.is_open()) {
    const float foot = ImGui::GetFrameHeight() + ui.em * 0.6f;
    ImGui::PushID(lesson.lesson().id.c_str());
    ImGui::PushID(static_cast<int>(lesson.step()));
    ImGui::BeginChild("step", ImVec2(0, -foot), ImGuiChildFlags_NavFlattened);
    draw_step(ui, ImGui::GetContentRegionAvail().x - ui.em * 0.3f, Reader::kOne);
    ImGui::EndChild();
    ImGui::PopID();
    ImGui::PopID();
  }
  if (lesson.is_open()) draw_foot(ui);
  ImGui::EndChild();
}

}  // namespace triescope::app

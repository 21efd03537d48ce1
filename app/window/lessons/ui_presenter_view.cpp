// The presenter view: a window of its own for the lecturer, on another monitor where there is one.
// It shows what the audience is told now, an open lesson's notes, what comes next with its picture,
// and the time. Its letters grow with it.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <variant>

#include "app/window/lessons/presenter_words.h"
#include "app/window/lessons/ui_lesson.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

constexpr float kWidthEm = 52, kHeightEm = 46;  // when it opens, in em of the desk
// Letters grow with the window: it always has this many em across and down.
constexpr float kLettersAcross = 40, kLettersDown = 36;
constexpr float kPictureShare = 0.34f;  // of the window's height

// A place on a monitor that the main window is not on, else beside its corner.
ImVec2 first_place(float em) {
  const ImGuiViewport* const main = ImGui::GetMainViewport();
  const ImVec2 middle = main->GetCenter();
  for (const ImGuiPlatformMonitor& one : ImGui::GetPlatformIO().Monitors) {
    const bool here = middle.x >= one.MainPos.x && middle.x < one.MainPos.x + one.MainSize.x &&
                      middle.y >= one.MainPos.y && middle.y < one.MainPos.y + one.MainSize.y;
    if (!here) return {one.WorkPos.x + em * 2, one.WorkPos.y + em * 2};
  }
  return {main->Pos.x + em * 4, main->Pos.y + em * 4};
}

void heading(const Ui& ui, const std::string& text, float em) {
  ImGui::PushFont(ui.fonts.ui_bold, em);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

void dim(const Ui& ui, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  ImGui::TextWrapped("%s", text.c_str());
  ImGui::PopStyleColor();
}

void draw_time(Ui& ui, float em) {
  LectureMode& lecture = ui.workspace.lecture;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char clock[16];
  std::strftime(clock, sizeof clock, "%H:%M", &local);
  ImGui::PushFont(ui.fonts.ui_bold, em * 1.6f);
  ImGui::Text("%s", clock);
  ImGui::SameLine(0, em * 1.2f);
  ImGui::TextUnformatted(elapsed_text(lecture.elapsed()).c_str());
  ImGui::PopFont();
  ImGui::SameLine(0, em * 0.8f);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + em * 0.35f);
  if (ImGui::Button("Reset")) lecture.reset_time();
  help_tooltip("R: elapsed time from 0 again", em);
  const ImVec2 at = ImGui::GetItemRectMin(), end = ImGui::GetItemRectMax();
  ui.press_targets.push_back({"reset time", {at.x, at.y, end.x - at.x, end.y - at.y}});
}

// Draws the audience's first panel one position ahead, small.
void draw_next_picture(Ui& ui, const Document& document, float em) {
  if (document.cursor >= document.capture->end_tick()) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const viz::Rect area{at.x, at.y, ImGui::GetContentRegionAvail().x,
                       ImGui::GetWindowSize().y * kPictureShare};
  viz::Panel& panel =
      ui.workspace.lecture.next_panel(ui.workspace.lecture.panels().front(), document);
  viz::Scene scene;
  scene.capture = document.capture.get();
  scene.cursor = document.cursor + 1;
  scene.theme = ui.theme;
  scene.em = std::round(em * 0.8f);
  scene.range = document.range;
  scene.series = scene.steady = true;
  scene.animate = false;
  scene.lit_from = document.cursor;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(ImVec2(area.x, area.y), ImVec2(area.right(), area.bottom()),
                      to_imgui(ui.theme.background));
  list->AddRect(ImVec2(area.x, area.y), ImVec2(area.right(), area.bottom()),
                to_imgui(ui.theme.border));
  viz::ImGuiCanvas canvas(list, ui.fonts);
  canvas.push_clip(area);
  panel.draw(canvas, area.inset(2), scene);
  canvas.pop_clip();
  ImGui::Dummy(ImVec2(area.w, area.h));
  ui.press_targets.push_back({"next picture", area});
}

void draw_contents(Ui& ui, const Document& document, float em) {
  draw_time(ui, em);
  ImGui::Separator();
  const PresenterWords words = presenter_words(document);
  heading(ui, words.now_heading, em * 1.1f);
  ImGui::SameLine();
  dim(ui, words.place);
  for (const std::string& sentence : words.now) ImGui::TextWrapped("%s", sentence.c_str());
  if (const Document* const other = ui.workspace.comparison.partner()) {
    const PresenterWords theirs = presenter_words(*other);
    heading(ui, other->title + ": " + theirs.now_heading, em);
    for (const std::string& sentence : theirs.now) ImGui::TextWrapped("%s", sentence.c_str());
  }
  ImGui::Separator();
  heading(ui, words.next_heading, em * 1.1f);
  if (!words.next.empty()) ImGui::TextWrapped("%s", words.next.c_str());
  draw_next_picture(ui, document, em);
  if (ui.workspace.lesson.is_open()) {
    const LessonPlayer& lesson = ui.workspace.lesson;
    ImGui::Separator();
    heading(ui,
            "Lesson, step " + std::to_string(lesson.step() + 1) + " of " +
                std::to_string(lesson.steps()) + ": " + lesson.shown_step().title,
            em * 1.1f);
    if (const auto open = lesson.open_question()) {
      const auto& question = std::get<lessons::Predict>(lesson.shown_step().pieces[*open]);
      ImGui::TextWrapped("%s", ("Ask: " + lesson.text_of(question.question)).c_str());
      dim(ui, "Alt+1 to Alt+8: what most of them say   Alt+S: the answer");
    }
    draw_lesson_notes(ui, ImGui::GetContentRegionAvail().x);
  }
  if (!ui.workspace.log.problems.empty()) {
    ImGui::Separator();
    ImGui::PushStyleColor(
        ImGuiCol_Text,
        to_imgui_vec(ui.theme.legible(ui.theme.mark(capture::NodeState::kRejected).color)));
    ImGui::TextWrapped("%s", ("✕ " + ui.workspace.log.problems.back()).c_str());
    ImGui::PopStyleColor();
  }
  ImGui::Separator();
  if (ui.workspace.lecture.is_blank()) heading(ui, "The screen is blank: B shows it again.", em);
  dim(ui,
      "Space, Page Down: on   Page Up: back   B: blank   S: spotlight   1 to 9, Tab: panels   "
      "N: this window   Esc: leave");
}

}  // namespace

void draw_presenter_view(Ui& ui) {
  LectureMode& lecture = ui.workspace.lecture;
  const float desk = ui.desk_em;
  ImGuiWindowClass own;
  own.ViewportFlagsOverrideSet = ImGuiViewportFlags_NoAutoMerge;
  ImGui::SetNextWindowClass(&own);
  ImGui::SetNextWindowPos(first_place(desk), ImGuiCond_Appearing);
  ImGui::SetNextWindowSize(ImVec2(desk * kWidthEm, desk * kHeightEm), ImGuiCond_Appearing);
  ImGui::PushFont(ui.fonts.ui, desk);  // for the title; the contents have another size
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(desk, desk * 0.8f));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(desk * 0.5f, desk * 0.28f));
  bool open = true;
  ImGui::Begin("triescope: presenter view###presenter view", &open,
               ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings);
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ui.press_targets.push_back({"presenter view", {at.x, at.y, size.x, size.y}});
  const float em =
      std::max(desk, std::round(std::min(size.x / kLettersAcross, size.y / kLettersDown)));
  lecture.presenter_em = em;
  ImGui::PushFont(ui.fonts.ui, em);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(em * 0.5f, em * 0.5f));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(em * 0.5f, em * 0.28f));
  draw_contents(ui, *ui.workspace.active(), em);
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  if (!open) lecture.set_presenter_view(false);
}

}  // namespace triescope::app

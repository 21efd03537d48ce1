// A lesson's question: its choices or its number, and what the reader was told.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/lesson/lesson_words.h"
#include "app/session/typed_number.h"
#include "app/window/lessons/lesson_card.h"
#include "app/window/lessons/ui_lesson_parts.h"
#include "app/window/shell/style.h"
#include "viz/draw/drawing.h"

namespace triescope::app {
namespace {

using lessons::Predict;

// Draws one choice of a question, its text broken into lines. `mark` shows whether it was right,
// once that is known.
bool choice_row(Ui& ui, int index, const lessons::Marked& choice, float width,
                const viz::Mark* mark, bool can_press) {
  const float em = ui.em, pad = em * 0.25f, left = em * 2;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const LessonText text = laid_out(ui, choice.block, width - left - em * 0.45f);
  float height = em;
  for (const LessonRun& run : text.runs) height = std::max(height, run.box.bottom());
  const ImVec2 box(width, std::ceil(height + 2 * pad));
  ImGui::PushID(index);
  // An answered choice keeps the keyboard's focus, so that Tab goes on from there.
  const bool pressed =
      ImGui::InvisibleButton("choice", box, ImGuiButtonFlags_EnableNav) && can_press;
  const bool over = can_press && (ImGui::IsItemHovered() || ImGui::IsItemFocused());
  name_part(ui, "choice " + std::to_string(index + 1));
  ImGui::PopID();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImVec2 end(at.x + box.x, at.y + box.y);
  list->AddRectFilled(at, end, to_imgui(over ? ui.theme.border : ui.theme.raised), em * 0.25f);
  if (mark) list->AddRect(at, end, to_imgui(mark->color), em * 0.25f, std::max(1.0f, em * 0.1f));
  viz::ImGuiCanvas canvas(list, ui.fonts);
  if (mark) {
    viz::draw_glyph(canvas, mark->glyph, {at.x + left * 0.5f, at.y + box.y / 2}, em * 0.85f,
                    mark->color);
  } else if (can_press) {
    viz::text_in(canvas, {at.x, at.y, left, box.y}, std::to_string(index + 1),
                 {viz::FontFace::kUi, em, ui.theme.text_dim}, viz::Align::kCenter);
  }
  paint_text(ui, text, ImVec2(at.x + left, at.y + pad));
  return pressed;
}

void draw_given(Ui& ui, const Predict& predict, const LessonPlayer::Given& given) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  const auto answer = lesson.answer_of(predict);
  const std::string truth = answer ? shown_value(answer->value) : "?";
  if (predict.choices.empty()) {
    const double* const number = answer ? std::get_if<double>(&answer->value) : nullptr;
    if (!given.number) return bold_line(ui, "The run says " + truth + ".");
    const bool right = number && std::abs(*number - *given.number) <= predict.within + 1e-9;
    return bold_line(ui, "You said " + shown_value(*given.number) +
                             (right ? ", and so does the run" : "; the run says " + truth) + ".");
  }
  if (given.choice < 0) return bold_line(ui, "This is what happened.");
  bold_line(ui, answer && given.choice == answer->choice
                    ? "As you predicted."
                    : "You predicted something else; this is what happened.");
}

}  // namespace

void draw_question(Ui& ui, std::size_t piece, const Predict& predict, float width, Reader reader,
                   int& links) {
  LessonPlayer& lesson = ui.workspace.lesson;
  const LessonPlayer::Given* const given = lesson.given(piece);
  LessonCard card(ui, width, ui.theme.accent);
  draw_bold_text(ui, predict.question, card.inner(), links);
  const auto answer = given ? lesson.answer_of(predict) : std::nullopt;
  const viz::Mark right = ui.theme.mark(capture::NodeState::kAccepted);
  const viz::Mark wrong = ui.theme.mark(capture::NodeState::kRejected);
  std::optional<LessonPlayer::Given> said;
  for (std::size_t i = 0; i < predict.choices.size(); ++i) {
    const int index = static_cast<int>(i);
    const viz::Mark* mark = nullptr;
    if (answer && answer->choice == index) mark = &right;
    if (given && given->choice == index && !mark) mark = &wrong;
    if (choice_row(ui, index, predict.choices[i].text, card.inner(), mark, !given))
      said = {.choice = index};
  }
  if (given) {
    draw_given(ui, predict, *given);
  } else if (reader == Reader::kOne) {
    std::string refused;
    if (predict.choices.empty()) {
      ImGui::SetNextItemWidth(ui.em * 8);
      static const Parameter kAnswer = number("answer", "", 0, -1e300, 1e300, "");
      const NumberAnswer typed = number_field(ui.state.number_edit, "##number",
                                              {.text = typed_text(kAnswer, ui.state.lesson_number),
                                               .take = [&](const std::string& text) {
                                                 ui.state.lesson_number =
                                                     read_typed(kAnswer, text).get<double>();
                                               }});
      name_part(ui, "number");
      ImGui::SameLine();
      // Only a number can be an answer.
      if ((ImGui::Button("Answer") || typed.entered) && typed.problem.empty())
        said = {.number = ui.state.lesson_number};
      refused = typed.problem;
      ImGui::SameLine();
    }
    if (ImGui::SmallButton("Show the answer")) said = LessonPlayer::Given{};
    name_part(ui, "show answer");
    help_tooltip(
        "Alt+S. With an audience: ask for a show of hands first, and press what most "
        "of them say.",
        ui.em);
    draw_problem(ui, refused);
  }
  if (said) {
    lesson.answer(piece, *said);
    ui.animating = true;
  }
}

}  // namespace triescope::app

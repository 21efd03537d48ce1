// The lesson pane: the step's text, questions and tasks, and the way through the steps.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/lesson/lesson_words.h"
#include "app/session/typed_number.h"
#include "app/window/lessons/lesson_card.h"
#include "app/window/lessons/lesson_text.h"
#include "app/window/lessons/ui_lesson.h"
#include "app/window/shell/style.h"
#include "viz/draw/drawing.h"

namespace triescope::app {
namespace {

using lessons::Link;
using lessons::Predict;
using lessons::Task;

std::string tooltip_of(const Link& link) {
  if (link.kind == Link::Kind::kWeb)
    return link.target.pieces.front().text + "\nA click copies the address.";
  if (link.kind == Link::Kind::kLesson) return "Opens this lesson.";
  return {};
}

// Draws a link's button and acts on a press or on hovering over it.
void link_button(Ui& ui, const LessonRun& run, const ImVec2& at, int id) {
  LessonPlayer& lesson = ui.workspace.lesson;
  ImGui::PushID(id);
  ImGui::SetCursorScreenPos(ImVec2(at.x + run.box.x, at.y + run.box.y));
  const bool pressed = ImGui::InvisibleButton("link", ImVec2(std::max(1.0f, run.box.w), run.box.h),
                                              ImGuiButtonFlags_EnableNav);
  const bool over = ImGui::IsItemHovered();
  name_part(ui, "link " + std::to_string(id));
  ImGui::PopID();
  const viz::Color color = run.style.color;
  const float y = at.y + run.box.y + run.box.h / 2 + run.style.size_px * 0.58f;
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  canvas.line({at.x + run.box.x, y}, {at.x + run.box.right(), y}, color,
              std::max(1.0f, ui.em * 0.07f),
              over ? viz::LineStyle::kSolid : viz::LineStyle::kDotted);
  if (over) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (const std::string text = tooltip_of(*run.link); !text.empty()) help_tooltip(text, ui.em);
    Document* const document = lesson.document();
    if (const std::int32_t node = lesson.node_of(*run.link); document && node != -1) {
      document->focus.hovered = node;
      ui.animating = true;
    }
  }
  if (!pressed) return;
  if (run.link->kind == Link::Kind::kWeb) {
    ui.state.copy = run.link->target.pieces.front().text;
    return ui.workspace.say(LogLevel::kInfo, "copied " + ui.state.copy);
  }
  try {
    lesson.follow(Link(*run.link));  // copied, because the lesson may change while it is followed
  } catch (const std::exception& error) {
    ui.workspace.say(LogLevel::kError, error.what());
  }
  ui.animating = true;
}

const LessonTexture& texture_of(Ui& ui, const std::string& file) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  return ui.state.lesson_textures.picture(lesson.lesson(), lesson.version(), file);
}

void draw_picture(Ui& ui, const LessonPicture& picture, const viz::Rect& box) {
  const LessonTexture& texture = texture_of(ui, picture.file);
  ImGui::SetCursorScreenPos(ImVec2(box.x, box.y));
  if (picture.shown)
    ImGui::Image(texture.id, ImVec2(box.w, box.h));
  else
    ImGui::Dummy(ImVec2(box.w, box.h));
  name_part(ui, "picture " + picture.file);
  if (ImGui::IsItemHovered()) help_tooltip(picture.shown ? picture.text : texture.problem, ui.em);
}

constexpr float kAudienceChart = 1.16f;  // em of the text: a chart's smallest letters have 0.74 em

// Who reads the step: one person at the window, or an audience whose lecturer answers by keys.
enum class Reader { kOne, kAudience };
// Where the last question drawn stands, from the top; negative = there is none.
struct Drawn {
  float question = -1;
  bool open = false;  // nobody has answered it
};

LessonText laid_out(Ui& ui, const lessons::Block& block, float width) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  const LessonLook look{
      ui.theme, ui.em, [&](const lessons::Expression& e) { return lesson.text_of(e); },
      [&](const std::string& file) {
        const PictureSize size = texture_of(ui, file).size;
        return viz::Point{static_cast<float>(size.width), static_cast<float>(size.height)};
      }};
  return lay_out_lesson(canvas, block, width, look);
}

// Paints everything but the pictures, with the top left at `at`.
void paint_text(Ui& ui, const LessonText& text, ImVec2 at) {
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  const auto moved = [&](viz::Rect box) {
    return viz::Rect{at.x + box.x, at.y + box.y, box.w, box.h};
  };
  for (const viz::Rect& ground : text.grounds)
    canvas.fill_rect(moved(ground), ui.theme.raised, ui.em * 0.2f);
  for (const viz::Rect& rule : text.rules) canvas.fill_rect(moved(rule), ui.theme.border, 0);
  for (const LessonRun& run : text.runs) {
    const viz::Rect box = moved(run.box);
    if (run.code)
      canvas.fill_rect({box.x - ui.em * 0.1f, box.y + ui.em * 0.12f, box.w + ui.em * 0.2f,
                        box.h - ui.em * 0.24f},
                       ui.theme.raised, ui.em * 0.2f);
    const float height = canvas.measure(run.text, run.style).y;
    canvas.text({box.x, box.y + (box.h - height) / 2}, run.text, run.style);
  }
  for (const viz::Rect& stroke : text.strokes) canvas.fill_rect(moved(stroke), ui.theme.text, 0);
  ui.note_text(canvas.smallest_text());
}

void draw_block(Ui& ui, const lessons::Block& block, float width, int& links) {
  const LessonText text = laid_out(ui, block, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(ui, text, at);
  for (const LessonPicture& picture : text.pictures)
    draw_picture(ui, picture,
                 {at.x + picture.box.x, at.y + picture.box.y, picture.box.w, picture.box.h});
  for (const LessonRun& run : text.runs)
    if (run.link) link_button(ui, run, at, links++);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, text.height));
}

}  // namespace

void draw_bold_text(Ui& ui, const lessons::Marked& text, float width, int& links) {
  lessons::Block block = text.block;
  block.kind = lessons::Block::Kind::kHeading;
  draw_block(ui, block, width, links);
}

namespace {

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

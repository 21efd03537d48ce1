#include "app/window/command_parts.h"

namespace triescope::app {
namespace {

constexpr int kAnswerKeys = 8;  // Alt+1 to Alt+8

}  // namespace

std::vector<Command> lesson_commands(Workspace& w, UiState& ui) {
  const auto is_open = [&w] { return w.lesson.is_open(); };
  std::vector<Command> rows = {
      {.id = "lessons",
       .title = "Lessons…",
       .menu = "Help",
       .chords = {chord_from_string("F3")},
       .run = [&ui] { ui.open(Dialog::kLessons); },
       .separator_before = true,
       .help = "Short lessons beside a real run: they ask what you expect, and show what happens."},
      {.id = "lesson-next",
       .title = "Lesson: next step",
       .menu = "Help",
       .chords = {chord_from_string("Ctrl+PageDown")},
       .run =
           [&w] {
             if (w.lesson.step() + 1 < w.lesson.steps()) return w.lesson.go_to(w.lesson.step() + 1);
             if (!w.lesson.next_lesson().empty()) w.open_lesson(w.lesson.next_lesson());
           },
       .enabled = is_open},
      {.id = "lesson-back",
       .title = "Lesson: step back",
       .menu = "Help",
       .chords = {chord_from_string("Ctrl+PageUp")},
       .run = [&w] { w.lesson.go_to(w.lesson.step() - 1); },
       .enabled = [&w] { return w.lesson.is_open() && w.lesson.step() > 0; }},
      {.id = "lesson-again",
       .title = "Lesson: show this step again",
       .menu = "Help",
       .chords = {chord_from_string("Alt+R")},
       .run = [&w] { w.lesson.show_again(); },
       .enabled = is_open,
       .help = "Panels, cursor and focus as the step wants them, after you have looked elsewhere."},
      {.id = "lesson-show-me",
       .title = "Lesson: show me",
       .menu = "Help",
       .chords = {chord_from_string("Alt+S")},
       .run =
           [&w] {
             if (const auto question = w.lesson.open_question())
               return w.lesson.answer(*question, {});
             if (const auto task = w.lesson.open_task()) w.lesson.show_me(*task);
           },
       .enabled =
           [&w] {
             return w.lesson.is_open() && (w.lesson.open_question() || w.lesson.open_task());
           },
       .help = "The answer to the open question, or what the open task asks for."},
      {.id = "lesson-notes",
       .title = "Lesson: notes for the lecturer",
       .menu = "Help",
       .run = [&ui] { ui.lesson_notes = !ui.lesson_notes; },
       .enabled = is_open,
       .checked = [&ui] { return ui.lesson_notes; }},
      {.id = "lesson-record",
       .title = "Lesson: record what I do",
       .menu = "Help",
       .run =
           [&w, &ui] {
             if (!w.lesson.recorder()) return w.lesson.start_recording();
             ui.copy = w.lesson.stop_recording();
             w.say(LogLevel::kInfo, "copied: a do block, to be pasted into the lesson");
           },
       .enabled = [&w] { return w.lesson.is_open() && !w.lesson.path().empty(); },
       .checked = [&w] { return w.lesson.recorder() != nullptr; },
       .help =
           "Cursor, panels, node and range that you choose become the lines of a do block, for a "
           "lesson that was opened from a file."},
      {.id = "lesson-close",
       .title = "Leave the lesson",
       .menu = "Help",
       .run = [&w] { w.lesson.close(); },
       .enabled = is_open,
       .help = "Panels are arranged as before; the lesson's run stays open."},
  };
  for (int i = 0; i < kAnswerKeys; ++i)
    rows.push_back({.id = "lesson-answer-" + std::to_string(i + 1),
                    .title = "Lesson: choice " + std::to_string(i + 1),
                    .chords = {chord_from_string("Alt+" + std::to_string(i + 1))},
                    .run = [&w, i] { w.lesson.answer(*w.lesson.open_question(), {.choice = i}); },
                    .enabled =
                        [&w, i] {
                          if (!w.lesson.is_open()) return false;
                          const auto open = w.lesson.open_question();
                          if (!open) return false;
                          const auto& question =
                              std::get<lessons::Predict>(w.lesson.shown_step().pieces[*open]);
                          return static_cast<std::size_t>(i) < question.choices.size();
                        }});
  return rows;
}

}  // namespace triescope::app

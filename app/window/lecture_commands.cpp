#include "app/window/command_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/window/workspace/lecture_layout.h"

namespace triescope::app {

std::vector<Command> lecture_commands(Workspace& w, UiState&) {
  const auto is_on = [&w] { return w.lecture.is_on(); };
  std::vector<Command> rows = {
      {.id = "lecture",
       .title = "Lecture mode",
       .menu = "View",
       .chords = chords({"F8"}),
       .run = [&w] { w.lecture.is_on() ? w.lecture.leave() : w.enter_lecture(); },
       .enabled = has_document(w),
       .checked = is_on,
       .separator_before = true,
       .help =
           "One or two panels and the narration, large, and nothing else. Space, Page Down or a "
           "clicker go on, Page Up goes back, Esc or F8 leaves."},
      {.id = "presenter-view",
       .title = "Lecture: presenter view",
       .menu = "View",
       .lecture_chords = chords({"N"}),
       .run =
           [&w] {
             const bool open = w.lecture.has_presenter_view();
             w.enter_lecture();
             w.lecture.set_presenter_view(!open);
           },
       .enabled = has_document(w),
       .checked = [&w] { return w.lecture.has_presenter_view(); },
       .help = "A second window for the lecturer: what this position shows, a lesson's notes, what "
               "comes next, the time."},
      {.id = "lecture-next",
       .title = "Lecture: go on",
       .lecture_chords = chords({"Space", "PageDown", "Right", "Down", "Enter"}),
       .run = [&w] { w.lecture.next(); },
       .enabled = is_on},
      {.id = "lecture-back",
       .title = "Lecture: go back",
       .lecture_chords = chords({"PageUp", "Left", "Up", "Backspace"}),
       .run = [&w] { w.lecture.back(); },
       .enabled = is_on},
      {.id = "lecture-blank",
       .title = "Lecture: blank the screen, and show it again",
       .lecture_chords = chords({"B", "."}),
       .run = [&w] { w.lecture.toggle_blank(); },
       .enabled = is_on},
      {.id = "lecture-spotlight",
       .title = "Lecture: spotlight at the mouse; the wheel changes its size",
       .lecture_chords = chords({"S"}),
       .run = [&w] { w.lecture.toggle_spotlight(); },
       .enabled = is_on},
      {.id = "lecture-panels",
       .title = "Lecture: the next panels that suit the method",
       .lecture_chords = chords({"Tab"}),
       .run = [&w] { w.lecture.next_panels(); },
       .enabled = is_on},
      {.id = "lecture-reset-time",
       .title = "Lecture: elapsed time from 0 again",
       .lecture_chords = chords({"R"}),
       .run = [&w] { w.lecture.reset_time(); },
       .enabled = is_on},
  };
  for (std::size_t i = 0; i < lecture_panels().size(); ++i) {
    const std::string& panel = lecture_panels()[i];
    rows.push_back({.id = "lecture-panel-" + std::to_string(i + 1),
                    .title = "Lecture: panel " + panel + ", shown or taken away",
                    .lecture_chords = {chord_from_string(std::to_string(i + 1))},
                    .run = [&w, panel] { w.lecture.toggle_panel(panel); },
                    .enabled = is_on});
  }
  return rows;
}

bool has_keys_in_lecture(const Command& command) {
  static constexpr std::array<std::string_view, 18> kIds = {
      "lecture",     "step",          "step-phase",
      "back",        "back-phase",    "go-start",
      "follow",      "next-bookmark", "previous-bookmark",
      "full-screen", "theme",         "projector-theme",
      "bigger",      "smaller",       "normal-size",
      "keys",        "fit",           "quit"};
  return std::ranges::count(kIds, command.id) > 0 ||
         (command.id.starts_with("lesson-") && command.id != "lesson-close");
}

}  // namespace triescope::app

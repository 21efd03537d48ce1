#include "app/window/command_parts.h"

#include <algorithm>
#include <cmath>

#include "app/window/workspace/user_scale.h"

namespace triescope::app {
namespace {

void scale_by(Workspace& workspace, float factor) {
  LectureMode& lecture = workspace.lecture;
  if (lecture.is_on()) return lecture.set_scale(std::round(lecture.scale() * factor * 20) / 20);
  const float scale = workspace.preferences.user_scale * factor;
  workspace.preferences.user_scale =
      std::clamp(std::round(scale * 20) / 20, kLeastUserScale, kMostUserScale);
}

}  // namespace

Commands panel_commands(Workspace& w, UiState& ui) {
  const auto presses = [&ui](bool PanelKeys::*key) {
    return [&ui, key] {
      ui.panel_keys.*key = true;
      ui.panel_keys.panel = ui.hovered_panel.empty() ? ui.last_panel : "";
    };
  };
  const auto row = [&](const char* id, const char* title, const char* menu, const char* chord,
                       bool PanelKeys::*key, const char* help) {
    return Command{.id = id,
                   .title = title,
                   .menu = menu,
                   .chords = chords({chord}),
                   .run = presses(key),
                   .enabled = has_document(w),
                   .help = help};
  };
  Commands rows = {
      row("fit", "Panel: fit, or follow again", "View", "F", &PanelKeys::fit,
          "The whole picture. Again in the trie: back to the growing end at reading size."),
      row("zoom-in", "Panel: zoom in", "View", "W", &PanelKeys::zoom_in,
          "Or the wheel, at the pointer."),
      row("zoom-out", "Panel: zoom out", "View", "S", &PanelKeys::zoom_out, ""),
      row("pan-left", "Panel: pan left", "View", "A", &PanelKeys::pan_left, "Or drag the picture."),
      row("pan-right", "Panel: pan right", "View", "D", &PanelKeys::pan_right, ""),
      row("fold", "Panel: fold, the next way", "View", "Z", &PanelKeys::fold,
          "Trie: which branches fold by themselves. Text: what all texts share, once or in each."),
      row("previous-neighbour", "Neighbour above", "Go", ",", &PanelKeys::previous, ""),
      row("next-neighbour", "Neighbour below", "Go", ".", &PanelKeys::next, "")};
  rows.front().separator_before = true;
  return rows;
}

Commands view_commands(Workspace& w, UiState& ui) {
  static constexpr auto kDark = viz::ThemeName::kDark, kProjector = viz::ThemeName::kProjector;
  return {
      {.id = "maximise",
       .title = "Maximise the pane under the mouse",
       .menu = "View",
       .chords = chords({"Ctrl+M"}),
       .run = [&w,
               &ui] { w.layouts.maximised = w.layouts.maximised.empty() ? ui.hovered_panel : ""; },
       .checked = [&w] { return !w.layouts.maximised.empty(); },
       .separator_before = true},
      {.id = "full-screen",
       .title = "Full screen",
       .menu = "View",
       .chords = chords({"Alt+Enter"}),
       .run =
           [&w, &ui] {
             ui.fullscreen = !ui.fullscreen;
             if (w.lecture.is_on()) w.preferences.lecture_full_screen = ui.fullscreen;
           },
       .checked = [&ui] { return ui.fullscreen; }},
      {.id = "next-window",
       .title = "Next window",
       .menu = "View",
       .chords = chords({"F6"}),
       .run = [&ui] { ui.next_window = +1; },
       .enabled = has_document(w),
       .help = "The keys go to the next window of panels, and back to the first."},
      {.id = "previous-window",
       .title = "Previous window",
       .menu = "View",
       .chords = chords({"Shift+F6"}),
       .run = [&ui] { ui.next_window = -1; },
       .enabled = has_document(w)},
      {.id = "run-bar",
       .title = "Run bar",
       .menu = "View",
       .chords = chords({"F2"}),
       .run =
           [&w, &ui] {
             bool& open = ui.run_bar_open(w.preferences);
             open = !open;
           },
       .checked = [&w, &ui] { return ui.run_bar_open(w.preferences); }},
      {.id = "theme",
       .title = "Light theme",
       .menu = "View",
       .chords = chords({"Ctrl+T"}),
       .run = [&w] { w.set_theme(w.theme() == kDark ? viz::ThemeName::kLight : kDark); },
       .checked = [&w] { return w.theme() == viz::ThemeName::kLight; }},
      {.id = "projector-theme",
       .title = "Projector theme",
       .menu = "View",
       .chords = chords({"Ctrl+Shift+T"}),
       .run = [&w] { w.set_theme(w.theme() == kProjector ? kDark : kProjector); },
       .checked = [&w] { return w.theme() == kProjector; },
       .help =
           "Light, with a contrast of 7 or more for every letter. Lecture mode has a theme of its "
           "own, at first this one."},
      {.id = "bigger",
       .title = "Bigger text",
       .menu = "View",
       .chords = chords({"Ctrl+=", "Ctrl+KeypadPlus"}),
       .run = [&w] { scale_by(w, 1.1f); }},
      {.id = "smaller",
       .title = "Smaller text",
       .menu = "View",
       .chords = chords({"Ctrl+-", "Ctrl+KeypadMinus"}),
       .run = [&w] { scale_by(w, 1 / 1.1f); }},
      {.id = "normal-size",
       .title = "Normal text size",
       .menu = "View",
       .chords = chords({"Ctrl+0"}),
       .run =
           [&w] {
             if (w.lecture.is_on()) return w.lecture.set_scale(1);
             w.preferences.user_scale = 1;
           }},
      {.id = "messages", .title = "Messages…", .menu = "View", .run = opens(ui, Dialog::kMessages)},
  };
}

}  // namespace triescope::app

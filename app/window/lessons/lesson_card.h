// Shared pieces of the lesson pane: a card on raised ground, bold lines, and lines behind a mark.
#pragma once

#include <imgui.h>

#include <string>

#include "app/window/shell/ui.h"
#include "lessons/experiment.h"

namespace triescope::app {

// Frames what is drawn while it lives, with an edge of this colour.
class LessonCard {
 public:
  LessonCard(Ui& ui, float width, viz::Color edge);
  ~LessonCard();
  LessonCard(const LessonCard&) = delete;
  LessonCard& operator=(const LessonCard&) = delete;
  float inner() const;

 private:
  Ui& ui_;
  float width_;
  viz::Color edge_;
  ImVec2 at_;
  ImDrawListSplitter splitter_;
};

void bold_line(Ui& ui, const std::string& text);
// ui_lesson_text.cpp. Draws a bold line with the links and marks of a lesson's text. `links` counts the
// links drawn so far.
void draw_bold_text(Ui& ui, const lessons::Marked& text, float width, int& links);
// Draws a bold line behind a mark.
void marked_line(Ui& ui, const viz::Mark& mark, const std::string& text);

// ui_lesson_writing.cpp. Shows a mistake in the file and the recording; draws nothing without
// either.
void draw_writing(Ui& ui, float width);
// ui_lesson_experiment.cpp. `piece` is an index in the step shown.
void draw_experiment(Ui& ui, std::size_t piece, const lessons::Experiment& experiment, float width,
                     int& links);

}  // namespace triescope::app

// The open lesson, the list of lessons, and lecture mode with its presenter view.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_lesson(Ui& ui, ImVec2 size);  // ui_lesson.cpp
// Lists lessons by number, title, minutes and subject; marks finished and half finished ones. True:
// one was opened. ui_lesson_list.cpp
bool draw_lesson_list(Ui& ui, float width);

// Draws the notes of the open lesson's step. ui_lesson.cpp
void draw_lesson_notes(Ui& ui, float width);
// Draws the open lesson's step as an audience reads it: text and questions, without the lecturer's
// notes and buttons. Letters have `em` px. ui_lesson.cpp
void draw_lesson_to_audience(Ui& ui, viz::Rect place, float em);

void draw_lecture(Ui& ui);         // ui_lecture.cpp; needs a capture
void draw_presenter_view(Ui& ui);  // ui_presenter_view.cpp; needs a capture

}  // namespace triescope::app

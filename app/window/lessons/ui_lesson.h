// What is taught: the open lesson, the list of lessons, and lecture mode with its presenter view.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_lesson(Ui& ui, ImVec2 size);  // ui_lesson.cpp
// Number, title, minutes, what it is about; finished and half finished ones are marked. True: one was opened. ui_lesson_list.cpp
bool draw_lesson_list(Ui& ui, float width);

// The notes of the step shown of the open lesson. ui_lesson.cpp
void draw_lesson_notes(Ui& ui, float width);
// The step shown of the open lesson as an audience reads it: its text and questions without the lecturer's
// notes and buttons. Letters of `em` px. ui_lesson.cpp
void draw_lesson_to_audience(Ui& ui, viz::Rect place, float em);

void draw_lecture(Ui& ui);         // ui_lecture.cpp; there is a capture
void draw_presenter_view(Ui& ui);  // ui_presenter_view.cpp; likewise

}  // namespace triescope::app

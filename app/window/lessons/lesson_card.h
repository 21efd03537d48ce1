// What the parts of the lesson pane draw with: a card on raised ground, a bold line, and names of what
// can be pressed.
#pragma once

#include <imgui.h>

#include <string>

#include "app/window/shell/ui.h"
#include "lessons/experiment.h"

namespace triescope::app {

// A frame around what is drawn while it lives, with an edge of this colour.
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
// ui_lesson.cpp: the same with links and marks, as the lesson's text has them. `links`: drawn so far.
void draw_bold_text(Ui& ui, const lessons::Marked& text, float width, int& links);
// The same behind a mark.
void marked_line(Ui& ui, const viz::Mark& mark, const std::string& text);

// ui_lesson_writing.cpp: a mistake in the file, what is being recorded; nothing where there is neither.
void draw_writing(Ui& ui, float width);
// ui_lesson_experiment.cpp; `piece`: of the step that is shown.
void draw_experiment(Ui& ui, std::size_t piece, const lessons::Experiment& experiment, float width,
                     int& links);

}  // namespace triescope::app

// What the lesson pane draws a step from: blocks of text, and questions.
#pragma once

#include <imgui.h>

#include "app/window/lessons/lesson_text.h"
#include "app/window/shell/ui.h"

namespace triescope::app {

// Who reads the step: one person at the window, or an audience whose lecturer answers by keys.
enum class Reader { kOne, kAudience };

// --- ui_lesson_text.cpp ---
LessonText laid_out(Ui& ui, const lessons::Block& block, float width);
// Paints everything but the pictures, with the top left at `at`.
void paint_text(Ui& ui, const LessonText& text, ImVec2 at);
// Draws a block with its pictures and links. `links` counts the links drawn so far.
void draw_block(Ui& ui, const lessons::Block& block, float width, int& links);

// --- ui_lesson_question.cpp ---
// `piece` is an index in the step shown.
void draw_question(Ui& ui, std::size_t piece, const lessons::Predict& predict, float width,
                   Reader reader, int& links);

}  // namespace triescope::app

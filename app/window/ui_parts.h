// The parts of the window, a file each: a function draws one, with what it needs of the Ui.
#pragma once

#include "app/window/ui.h"

namespace triescope::app {

void draw_menu(Ui& ui);         // ui_menu.cpp
void draw_tool_bar(Ui& ui);     // ui_tool_bar.cpp
void draw_documents(Ui& ui);    // ui_documents.cpp
void draw_status_line(Ui& ui);  // ui_notices.cpp
// Errors and progress, over the panes, which do not move for them; `bottom`: where they end, in px.
void draw_notices(Ui& ui, float bottom);  // ui_notices.cpp
// What stopped the run, in one line of at most `width` px; nothing where nothing did.
void draw_break_reason(Ui& ui, float width);  // ui_notices.cpp
// In place of all else while a run is measured: how far it is, and a button that ends it.
void draw_measuring(Ui& ui);  // ui_notices.cpp
void draw_dialogs(Ui& ui);    // ui_dialogs.cpp; what is in each: ui_dialogs.h

// ui_run_bar.cpp, and what it is made of.
void draw_run_bar(Ui& ui, ImVec2 size);
// At the right end of the heading's line; a problem in its colour, with a cross. ui_prompt_count.cpp
void draw_heading_note(Ui& ui, const std::string& text, bool problem, const std::string& help);
void draw_prompt_count(Ui& ui, const RunRequest& request);  // ui_prompt_count.cpp
// Where the model that the request names lies; "" = there is none of the name. Looked up when the name
// changes. ui_run_bar.cpp
const std::string& path_of_model(Ui& ui, const RunRequest& request);
// Why the prompt cannot be run with its model, and what to do about it; "" = it can, or is still
// being counted. ui_prompt_count.cpp
std::string prompt_problem(const Ui& ui, const RunRequest& request);
void draw_memory_line(Ui& ui, const RunRequest& request);  // ui_memory_line.cpp
void draw_prompt(Ui& ui, RunRequest& request);             // ui_run_prompt.cpp
// Controls of the method's parameters, in groups; true if one changed. ui_parameters.cpp
// Below a field: why a run would refuse what stands there; nothing for "". ui_prompt_count.cpp.
void draw_problem(const Ui& ui, const std::string& text);
bool edit_parameters(const Ui& ui, const MethodInfo& method, nlohmann::json& settings);

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

// ui_panes.cpp, and what it is made of.
void draw_panes(Ui& ui, viz::Rect area);
void draw_empty(Ui& ui, viz::Rect area);  // in their place while no capture is open
// ui_pane.cpp; `floats`: in a window of its own.
void draw_pane(Ui& ui, PlacedPane& pane, Document& document, bool floats);
// ui_pane_buttons.cpp; `zooms`: with those that zoom and fit; `front`: the panel in front, nullptr =
// none.
void draw_pane_buttons(Ui& ui, PaneNode& pane, const viz::Panel* front, viz::Rect header,
                       bool zooms, bool floats);
void draw_tab_menu(Ui& ui, const std::string& name, Document& document);  // ui_tab_menu.cpp
float pane_buttons_width(const Ui& ui, bool zooms);  // px, with the list of hidden tabs
// ui_panel.cpp; `em`: of its text, in px; 0 = the window's, larger while it is maximised.
void draw_panel(Ui& ui, viz::Panel& panel, viz::Rect area, Document& document, float em = 0);

float draw_find_bar(Ui& ui, float width);  // ui_find_bar.cpp; returns its height

// ui_compare.cpp
float draw_compare_strip(Ui& ui, float width);  // returns its height
void draw_compare_pair(Ui& ui, const std::string& panel, viz::Rect area, Document& left);

}  // namespace triescope::app

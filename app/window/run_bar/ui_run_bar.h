// The run bar and its parts.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_run_bar(Ui& ui, ImVec2 size);
// Draws a note at the right end of the heading's line; a problem has its colour and a cross.
// ui_prompt_count.cpp
void draw_heading_note(Ui& ui, const std::string& text, bool problem, const std::string& help);
void draw_prompt_count(Ui& ui, const RunRequest& request);  // ui_prompt_count.cpp
// Why the prompt cannot be run with its model, and what to do about it. "" = it can be, or is still
// being counted. ui_prompt_count.cpp
std::string prompt_problem(const Ui& ui, const RunRequest& request);
void draw_model(Ui& ui, RunRequest& request);  // ui_model_fields.cpp
// The draft model or head that the method needs. ui_model_fields.cpp
void draw_draft_field(Ui& ui, const MethodInfo& method, RunRequest& request);
void draw_memory_line(Ui& ui, const RunRequest& request);  // ui_memory_line.cpp
void draw_prompt(Ui& ui, RunRequest& request);             // ui_run_prompt.cpp
// A line that is cut where its button begins, which takes out what it tells. `part` names the button
// for the keyboard and scripts. Returns true when the button was pressed. ui_chat_files.cpp
bool draw_line_with_button(Ui& ui, const std::string& line, const std::string& part,
                           const std::string& help);
// A template from a file and tools, each with a button that takes it out. ui_chat_files.cpp
void draw_chat_files(Ui& ui, RunRequest& request);
// Draws controls for the method's parameters, in groups; true if one changed. ui_parameters.cpp
bool edit_parameters(const Ui& ui, const MethodInfo& method, nlohmann::json& settings);

}  // namespace triescope::app

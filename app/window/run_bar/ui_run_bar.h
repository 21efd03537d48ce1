// The run bar, and what it is made of.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

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
bool edit_parameters(const Ui& ui, const MethodInfo& method, nlohmann::json& settings);

}  // namespace triescope::app

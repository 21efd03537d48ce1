// How a lesson writes values in the window and on a page. Pure functions.
#pragma once

#include <string>

#include "app/lesson/experiment.h"
#include "lessons/value.h"

namespace triescope::app {

// Written like tokens and numbers in panels: '·the', 49,152, 0.413; running text as it is.
std::string shown_value(const lessons::Value& value);

// "χ² = 1.2, 3 degrees of freedom, p-value 0.71; 4,012 of 10,000 draws kept a draft."
std::string figures_text(const ExperimentResult& result, int draws);

}  // namespace triescope::app

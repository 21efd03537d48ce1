// The presenter view's text for a cursor: what the audience is told, and what comes next. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/window/workspace/workspace.h"

namespace triescope::app {

struct PresenterWords {
  std::string now_heading;       // "Step 3, accept"
  std::string place;             // "of 12 steps"
  std::vector<std::string> now;  // the narration's sentences
  std::string next_heading;      // "Next: step 3, commit"; "The run ends here."
  std::string next;  // first sentence of the next position's narration; "" = not known yet
};
PresenterWords presenter_words(const Document& document);
nlohmann::json to_json(const PresenterWords& words);

// "1:05", "1:02:03", in whole seconds.
std::string elapsed_text(double seconds);

}  // namespace triescope::app

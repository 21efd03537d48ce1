// Places in a run, as findings and the command line write them: step/12, node/57, step/12/node/57.
#pragma once

#include <string>

#include "app/window/workspace/documents.h"

namespace triescope::app {

struct PlaceInRun {
  capture::Tick cursor = 0;
  std::int32_t node = -1;  // -1 = none
};

// Where the place is in a run, `path` its file. Errors: kInvalidArgument (no such form), kNotFound (the run has
// no such step or node; says which it has).
PlaceInRun find_place(const capture::Capture& run, const std::string& path,
                      const std::string& place);

// Shows `document` behind that step, with that node selected; without a step, behind the one that the
// node came in. Prompt token i is node -2 - i. Errors: find_place()'s.
void open_place(Documents& documents, Document& document, const std::string& place);

}  // namespace triescope::app

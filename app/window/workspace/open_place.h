// Places in a run, as findings and the command line write them: step/12, node/57, step/12/node/57.
#pragma once

#include <string>

#include "app/window/workspace/documents.h"

namespace triescope::app {

// Puts the cursor of `document` behind that step and selects that node. Without a step, the cursor
// goes behind the step that added the node. Prompt token i is node -2 - i. Errors: kInvalidArgument
// (malformed place), kNotFound (the run has no such step or node; says which it has).
void open_place(Documents& documents, Document& document, const std::string& place);

}  // namespace triescope::app

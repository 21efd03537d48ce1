// The runs that the one shown can be compared with, as text: apart from their drawing.
#pragma once

#include <string>
#include <vector>

#include "app/window/workspace/workspace.h"

namespace triescope::app {

struct CompareRow {
  Document* document = nullptr;
  std::string title;
  // What tells it from the other open runs, the one shown among them: settings that runs of its method have
  // different values of, then model, prompt, seed, limit and length where those are not the same in all.
  // "Beams 4, seed 7".
  std::string differs;
};
// In the order of the tabs.
std::vector<CompareRow> compare_rows(const Workspace& workspace);

}  // namespace triescope::app

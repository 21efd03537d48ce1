// The runs that the one shown can be compared with, as text: apart from their drawing.
#pragma once

#include <string>
#include <vector>

#include "app/window/workspace/workspace.h"

namespace triescope::app {

struct CompareRow {
  Document* document = nullptr;
  std::string title;
  // The difference from the other open runs, the one shown among them: "Beams 4, seed 7". First
  // come settings whose values differ among runs of its method, then model, prompt, seed, limit and
  // length where the runs differ in them.
  std::string differs;
};
// In the order of the tabs.
std::vector<CompareRow> compare_rows(const Workspace& workspace);

}  // namespace triescope::app

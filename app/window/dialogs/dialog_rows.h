// The rows of dialogs as text, apart from their drawing, so that tests can read them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::app {

// A token that could follow a node in place of the one that did.
struct WhatIfRow {
  std::int32_t token = 0;
  std::string rank, text, p, logprob;  // ranks begin at 1
  bool taken = false;                  // the run has this token there
};
struct WhatIf {
  std::int32_t node = -1;  // the node where the new run would branch off; -1 = none
  std::vector<WhatIfRow> rows;
};
// The candidates after the focused node, or without one after the best live leaf. A leaf that no
// forward has read has none, so its parent's are taken.
WhatIf what_if_at(const capture::Capture& capture, capture::Tick cursor, std::int32_t focus);

// Alphabetical order, ignoring case. Texts that begin with a sign, a digit or a letter of another
// alphabet come last.
bool before_in_alphabet(const std::string& one, const std::string& other);

// Terms of the glossary with their meanings. Those that fit the query come best first
// (search_rank.h); an empty query gives all, in alphabetical order.
std::vector<std::pair<std::string, std::string>> glossary_rows(const std::string& query);

// The libraries that this program is built with, one a line: "torch 2.11.0". Absent ones have no
// line.
std::vector<std::string> version_lines();

}  // namespace triescope::app

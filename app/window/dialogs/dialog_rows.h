// What dialogs list, as text: apart from their drawing, so that it can be tested.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::app {

// A token that could come after a node in place of the one that did.
struct WhatIfRow {
  std::int32_t token = 0;
  std::string rank, text, p, logprob;  // ranks begin at 1
  bool taken = false;                  // the run has it there
};
struct WhatIf {
  std::int32_t node = -1;  // that the new run would leave; -1 = none
  std::vector<WhatIfRow> rows;
};
// After the focused node; without one after the best live leaf. A leaf that has not been read has no
// candidates: then it is its parent.
WhatIf what_if_at(const capture::Capture& capture, capture::Tick cursor, std::int32_t focus);

// Without regard to case; what begins with a sign or a digit, or with a letter of another alphabet,
// comes last.
bool before_in_alphabet(const std::string& one, const std::string& other);

// Terms of the glossary with what they mean, those that fit the query best first (search_rank.h), else in
// the order of the alphabet. An empty query: all.
std::vector<std::pair<std::string, std::string>> glossary_rows(const std::string& query);

// What this program is built with, a line each: "torch 2.11.0". What is not there has no line.
std::vector<std::string> version_lines();

}  // namespace triescope::app

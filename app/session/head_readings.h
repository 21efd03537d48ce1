// The readings of an EAGLE head's file that published heads disagree on: each is decoded with, and
// the one that the weights were trained for is accepted most. Nothing of the file is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct HeadReading {
  std::string name;  // "as the file says", "auxiliary layers one up", ...
  // [d]: of the steps, the share that accepted more than d drafts.
  std::vector<double> acceptance;
  double tokens_per_forward = 0;
};

// The file's own reading first; those that the file or the target cannot be read by are left out.
// `prompts`: token ids. Errors: those of load_draft_head; kNotSupported: a head of another kind, or a
// head without a config.json beside it.
std::vector<HeadReading> head_readings(const std::string& head, Model& target,
                                       const Tokenizer& tokenizer,
                                       const std::vector<std::vector<std::int32_t>>& prompts,
                                       int max_new_tokens);

// The reading that the weights were trained for: the file's own unless another is clearly better.
std::size_t trained_reading(const std::vector<HeadReading>& readings);

}  // namespace triescope::app

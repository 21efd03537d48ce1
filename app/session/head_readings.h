// The readings of a draft head that published heads, and the programs that run them, disagree on: each is
// decoded with. The one that the weights were trained for is accepted most; the one whose first drafts are
// those of a capture is what the recorded program did. Nothing of the file is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/capture/capture.h"
#include "core/files/draft_head/head_reading.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct TriedReading {
  std::string name;  // "as the file says", "auxiliary layers one up", ...
  formats::HeadReading how = {};
  std::string refused = {};  // why the file cannot be read so; "" = it was decoded with
  // [d]: of the steps, the share that accepted more than d drafts.
  std::vector<double> acceptance = {};
  double tokens_per_forward = 0;
  // The share of the capture's first drafts that this reading drafts too; NaN: none to compare with.
  double same_drafts = std::numeric_limits<double>::quiet_NaN();
};

struct HeadToRead {
  std::string path;  // of the head
  Model& target;
  const Tokenizer& tokenizer;
  std::vector<std::vector<std::int32_t>> prompts = {};  // token ids, the capture's own first
  int max_new_tokens = 64;
  // A run of the same prompt whose drafts came from this head; null = none.
  const capture::Capture* recorded = nullptr;
  const ProgressSink& progress = {};
};

// The file's own reading first, even where it is refused; others that the file or the target cannot be
// read by are left out. Errors: those of load_draft_head where no reading opens; kNotSupported: SPACE's
// masks, which have one reading.
std::vector<TriedReading> head_readings(const HeadToRead& head);

// The reading that the weights were trained for: the file's own unless another is clearly better.
std::size_t trained_reading(const std::vector<TriedReading>& readings);
// The reading by which the recorded program used the head; nullopt: its drafts are none's, or those of
// several.
std::optional<std::size_t> used_reading(const std::vector<TriedReading>& readings);

}  // namespace triescope::app

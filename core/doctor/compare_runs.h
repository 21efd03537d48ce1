// Where two runs of one prompt part: with and without speculation, two engines, two dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/doctor/finding.h"

namespace triescope::doctor {

// Why two texts of one prompt part.
enum class Parting : std::uint8_t {
  kTie = 0,     // the two tokens are nearer than what another order of sums changes
  kArithmetic,  // nearer than what the coarser of the two number types can tell apart
  kChosen,      // a token that is not the best of its row was drawn, or kept by a search
  kFault,       // none of these explains it
  kUnknown,     // the rows were not recorded
};
const char* to_string(Parting parting);    // "tie", "arithmetic", ...
const char* sentence_of(Parting parting);  // "It is a fault: rounding does not explain it"

// One run where they part. Tokens -1: its text ends there.
struct PartingSide {
  std::int32_t step = -1, node = -1;  // whose row chose the token
  std::int32_t token = -1;
  std::int32_t forward_rows = 0;  // in the forward of that row
  std::string dtype;              // "" = not known
  std::vector<capture::CandidateRow> best;
  float margin = 0;  // log p of the best − that of the second; NaN = not known
  float gap = 0;     // log p of its own token − that of the other run's; NaN = not known
};

struct FirstDifference {
  std::int32_t token = 0;  // of the text, from 0
  PartingSide left, right;
  Parting parting = Parting::kUnknown;
  Finding finding;  // the same in words
};

// The nodes of the text that a run returned, or has so far.
std::vector<std::int32_t> text_nodes(const capture::Capture& capture);

// A number type's unit in the last place at the size that logits have (16 to 32).
double logit_unit(const std::string& dtype);

// By how much another order of sums may change a logit of that type.
double rounding_noise(const std::string& dtype);

// nullopt: the same text. Error{kInvalidArgument}: other prompts.
std::optional<FirstDifference> first_difference(const capture::Capture& left,
                                                const capture::Capture& right);

}  // namespace triescope::doctor

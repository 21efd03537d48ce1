// Why a verdict fell. reasons.def lists the reasons with the rules that give them and the values
// that they carry; assets/narration/reasons.txt has their words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace triescope::capture {

struct VerdictRow;

enum class Reason : std::uint8_t {
  kNone = 0,
#define TRIESCOPE_REASON(code, name, rule, values) code,
#include "core/capture/reasons.def"
};
inline constexpr int kReasonCount = static_cast<int>(Reason::kDraftOutdone) + 1;
const char* to_string(Reason reason);  // its name in the file: "is_argmax"

// The verification rule whose reason it is; a token that the target adds has the rule by which the
// drafts beside it were verified.
enum class ReasonRule : std::uint8_t {
  kNone,        // no rule of verification
  kGreedy,      // the argmax
  kSample,      // one draw from p
  kChain,       // u against p/q
  kBlock,       // u against h of a block
  kMultiRound,  // u against r/q, sibling by sibling
  kTypical,     // p against a threshold
  kTopK,        // the best K of a row
  kNotReached,  // the rule never looked at the draft
};
ReasonRule rule_of(Reason reason);
const char* to_string(ReasonRule rule);  // "multi_round"
// Whether the row's p, and a value that is a probability, are those after processors and warpers:
// what the rule draws from or compares. Otherwise they are the model's.
bool is_after_warpers(Reason reason);

// The unit of a value of a reason.
enum class ReasonUnit : std::uint8_t {
  kProbability,     // of a token, in the row that decided
  kShare,           // a probability, or a part of one, from 0 to 1
  kUniform,         // a draw from 0 to 1
  kRatio,           // from 0 to 1
  kLogProbability,  // natural logarithm
  kSum,             // natural logarithms, summed along a text
  kScore,           // kSum after the length penalty
  kRank,            // from 0
  kCount,
  kToken,  // a token's id
};

struct ReasonValue {
  std::string_view name;    // "other_p"
  std::string_view column;  // "value": the member of the row, and the column in the file
  ReasonUnit unit;
  std::string_view meaning;
  double (*of)(const VerdictRow&);
};
// Every value that some reason carries.
std::span<const ReasonValue> reason_values();
// Error{kInvalidArgument}: there is no value of this name.
const ReasonValue& reason_value(std::string_view name);
// The names of the values that a reason carries: "u ratio block".
const char* values_of(Reason reason);
bool carries(Reason reason, std::string_view value);

}  // namespace triescope::capture

// Which verification rule goes with which drafts: one table. The "verify" parameter names a rule,
// and the drafter determines how its drafts came about. A pair that makes no sense is refused with
// the reason.
#pragma once

#include <cstdint>
#include <string>

#include "core/method/method.h"
#include "core/verify/verify.h"

namespace triescope {

// How a drafter picks its tokens.
enum class Drafted : std::uint8_t {
  kChosen,      // looked up, or the best of a row: deterministic, q = 1
  kDrawnChain,  // drawn from q, one below a node
  kDrawnTree,   // drawn from q, several below a node
};

// The rule that `verify` names for such drafts. Error{kInvalidArgument}: why they do not go
// together, and what to choose.
VerifyRule rule_for(const std::string& verify, Drafted drafted);
// Whether drafters that can draw from q do so under this rule.
bool verify_draws(const std::string& verify);
// Whether the text may differ from plain decoding's, in distribution too.
bool is_lossy(const std::string& verify);
// Whether a method is lossless with these settings: MethodInfo::lossless, and no lossy rule.
bool is_lossless(const MethodInfo& method, const Settings& settings);

}  // namespace triescope

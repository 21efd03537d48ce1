// Which drafts go with which verification rule: one table. A rule is named by the "verify"
// parameter; what drafts are is the drafter's. A pair that makes no sense is refused with the
// reason.
#pragma once

#include <cstdint>
#include <string>

#include "core/accept/verify.h"
#include "core/method/method.h"

namespace triescope {

// How a drafter comes by its tokens.
enum class Drafted : std::uint8_t {
  kChosen,      // looked up, or the best of a row: deterministic, q = 1
  kDrawnChain,  // drawn from q, one a node
  kDrawnTree,   // drawn from q, several a node
};

// The rule that `verify` names for such drafts. Error{kInvalidArgument}: the reason why not, and
// what to choose.
VerifyRule rule_for(const std::string& verify, Drafted drafted);
// Drafts are drawn from q under this rule, by drafters that can draw.
bool verify_draws(const std::string& verify);
// The text may differ from plain decoding's, in distribution too.
bool is_lossy(const std::string& verify);
// Of a method with these settings: MethodInfo::lossless, and no lossy rule.
bool is_lossless(const MethodInfo& method, const Settings& settings);

}  // namespace triescope

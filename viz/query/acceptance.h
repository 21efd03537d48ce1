// Where drafts are accepted and where not: the places that a run's text got to and its drafts there,
// in groups by depth, rank, place in the tree, source, position, kind of token, entropy or q, each
// with its share and interval; and why those that failed did. A study adds the groups of its runs.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/draft_places.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

enum class AcceptanceBy : std::uint8_t {
  // These count places (DraftPlace): whether one of the drafts there was accepted.
  kDepth,     // level of the drafts
  kPosition,  // tokens of the text before it, in bins of 16
  kKind,      // the token that came there
  kEntropy,   // the target's, in nats, in bins
  kCause,     // of places where none was accepted: why (draft_causes.h)
  // These count drafts at such places: whether this one was accepted.
  kRank,     // among its siblings, the likeliest first: 1, 2, …
  kTree,     // ranks on the way from the frontier: "1.1.2"
  kSource,   // what proposed it
  kQ,        // the probability that the drafter gave it, in bins of 0.1
  kRefused,  // of refused drafts, those below other refused ones too: why
};
inline constexpr int kAcceptanceByCount = static_cast<int>(AcceptanceBy::kRefused) + 1;
const char* to_string(AcceptanceBy by);  // "depth", "position", …: options and CSV
const char* title_of(AcceptanceBy by);   // "depth of the draft": axes
constexpr bool is_of_places(AcceptanceBy by) { return by <= AcceptanceBy::kCause; }
// Shares of the failures instead of shares accepted (acceptance_causes.h).
constexpr bool is_of_causes(AcceptanceBy by) {
  return by == AcceptanceBy::kCause || by == AcceptanceBy::kRefused;
}
std::optional<AcceptanceBy> acceptance_by_name(std::string_view name);

// A place or a draft, and whether it was accepted.
struct AcceptanceCase {
  std::int32_t step = 0;
  std::int32_t node = 0;  // the draft; of a place the accepted one, else the first of its drafts
  bool accepted = false;
  float p = 0;  // of a draft: the target's probability; NaN = not recorded
};

struct AcceptanceGroup {
  std::string label;                       // "1", "16 to 31", "letters"
  double order = 0;                        // groups stand in this order
  std::int64_t n = 0, accepted = 0;        // by causes: all failures, and those of this cause
  double sum_p = 0;                        // of the target's p over those of which it is known
  std::int64_t with_p = 0;                 // how many they are
  std::vector<AcceptanceCase> cases = {};  // in the order of the run

  double share() const { return n ? static_cast<double>(accepted) / static_cast<double>(n) : 0; }
  ShareInterval interval() const { return wilson_interval(accepted, n); }
};

// The groups of the steps first..last, as far as the cursor has seen them. `unknown`: the cases that
// are in no group, because the capture does not know what it takes.
struct Acceptance {
  std::vector<AcceptanceGroup> groups = {};
  std::int64_t unknown = 0;
};
Acceptance acceptance_by(const capture::Capture& capture, AcceptanceBy by, capture::Tick cursor,
                         StepRange range = {});
// Adds another run's groups, without their cases.
void add_acceptance(Acceptance& sum, const Acceptance& more);

}  // namespace triescope::viz

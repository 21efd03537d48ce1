// Where the end of the text stood before, with the drafts of a step behind it: what a drafter that looks in the
// text has found, or could have. Computed from the tokens alone, so it holds for any recorder's run. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// Nodes, or prompt token i as -2 - i.
struct DraftMatch {
  std::vector<std::int32_t> end;  // the last tokens of the text, as many as match
  std::vector<std::int32_t>
      earlier;  // the same tokens where they stood before; empty: in another text
  std::vector<std::int32_t> behind;  // what came after them there, as far as it is drafted
  bool empty() const { return end.empty(); }
};

// The match behind the drafts of the cursor's step, once they are there, where they come from a search in texts
// (DrafterKind::kText). The drafts are those of the first path below the text. The longest match counts, and the
// last of equally long ones. A recorder that says how many tokens matched (kMatchedTokens) is believed:
// where it says at which token of another text (kFoundAt), or this text has no such place, they were found elsewhere.
// Empty: no such drafts, or their first token followed nowhere.
DraftMatch draft_match(const capture::Capture& capture, capture::Tick cursor);

}  // namespace triescope::viz

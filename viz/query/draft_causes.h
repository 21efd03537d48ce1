// Why drafts failed: of every refused draft, and of every place where the target put a token of its
// own although drafts were there, the first cause of this list that the capture shows. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/draft_places.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz {

// A draft whose p is at least this share of the p of the token that came is a near tie: of 0.5 and
// 0.4 either might have come.
inline constexpr double kNearTieShare = 0.8;

enum class DraftCause : std::uint8_t {
  // Causes of a refused draft alone.
  kParentRefused,  // a draft above it was refused
  kAfterEnd,       // the text ended above it
  kSibling,        // another draft of its place was accepted
  kOffPath,        // it passed, but another path was longer or likelier
  // Causes of both. A place has the first that fits one of its drafts, then why the drafter did not send
  // the token that came.
  kDraw,         // the target holds it likelier than what came: the draw fell elsewhere
  kNearTie,      // kNearTieShare
  kNoSuchToken,  // what came is not in the drafter's vocabulary
  kWithdrawn,    // the drafter proposed what came and withdrew it before the forward
  kRankedBelow,  // the drafter's row has what came below what it proposed
  kUnlisted,     // what came is not among the row's best tokens that were recorded
  kNotProposed,  // no row of the drafter is recorded (a lookup has none)
};
inline constexpr int kDraftCauseCount = static_cast<int>(DraftCause::kNotProposed) + 1;
const char* to_string(DraftCause cause);  // "withdrawn": CSV and JSON
const char* words_of(DraftCause cause);   // "withdrawn by reranking": charts
constexpr bool is_of_drafts_alone(DraftCause cause) { return cause <= DraftCause::kOffPath; }

struct DraftFailure {
  std::int32_t step = 0;
  std::int32_t node = 0;    // the refused draft; of a place the node of the token that came
  std::int32_t parent = 0;  // the place
  DraftCause cause = DraftCause::kNotProposed;
  float p = std::numeric_limits<float>::quiet_NaN();  // the model's own, of the node's token
  // The drafter's opinion of the token that came; rank −1 and NaN where that is not recorded.
  std::int32_t rank = -1;  // 0 = best
  float q = std::numeric_limits<float>::quiet_NaN();
  float score = std::numeric_limits<float>::quiet_NaN();  // Σ log q of its path, where proposed
};

// drafter_views() of the step with its near ties: what the decision and the narration tell.
std::map<std::int32_t, DrafterView> explained_views(const capture::Capture& capture,
                                                    std::int32_t step, capture::Tick cursor);

class DraftCauses {
 public:
  explicit DraftCauses(const capture::Capture& capture);

  // Both are empty before the step's accept phase has passed, as the cursor sees it.
  // The failures by place: those of the step at which drafts were refused and none was accepted.
  std::vector<DraftFailure> places(std::int32_t step, capture::Tick cursor) const;
  // The failures by draft: the step's refused ones, in the order of nodes.
  std::vector<DraftFailure> drafts(std::int32_t step, capture::Tick cursor) const;

 private:
  struct Step;  // what a step's verdicts and rows say, gathered once
  DraftFailure at_place(const Step& step, const DraftPlace& place, std::int32_t came) const;

  const capture::Capture& capture_;
  DraftVocabulary vocabulary_;
};

}  // namespace triescope::viz

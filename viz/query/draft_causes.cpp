#include "viz/query/draft_causes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "viz/query/step_so_far.h"
#include "viz/query/verdict_kinds.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::Verdict;

constexpr double kRoundingShare = 1e-4;  // of two probabilities that are equal

struct CauseName {
  const char *name, *words;
};
constexpr CauseName kCauseNames[] = {
    {"parent_refused", "below a refused draft"},
    {"after_end", "after the text's end"},
    {"sibling", "another draft was accepted"},
    {"off_path", "passed, on another path"},
    {"draw", "the draw fell elsewhere"},
    {"near_tie", "a near tie of the target"},
    {"not_in_vocabulary", "not in the draft vocabulary"},
    {"withdrawn", "withdrawn by reranking"},
    {"ranked_below", "ranked below what was drafted"},
    {"unlisted", "not among the drafter's best"},
    {"not_proposed", "not proposed"},
};
static_assert(std::size(kCauseNames) == kDraftCauseCount);

bool is_off_path(Reason reason) {
  return reason == Reason::kTypicalOffPath || reason == Reason::kTopKOffPath;
}

}  // namespace

const char* to_string(DraftCause cause) { return kCauseNames[static_cast<int>(cause)].name; }
const char* words_of(DraftCause cause) { return kCauseNames[static_cast<int>(cause)].words; }

struct DraftCauses::Step {
  Step(const capture::Capture& run, std::int32_t number, const DraftVocabulary& vocabulary)
      : run(run), number(number), cursor(capture::make_tick(number, capture::Phase::kCommit)) {
    places = draft_places(run, number, cursor);
    if (places.empty()) return;
    views = drafter_views(run, number, cursor, vocabulary);
    for (const capture::VerdictRow& row : run.verdicts(number)) {
      if (row.tick >= cursor || row.node <= 0) continue;
      if (row.verdict == Verdict::kRejected && is_draft(node(row.node))) refused[row.node] = row;
      if (is_targets_own(row.verdict)) own[node(row.node).parent] = row.node;
    }
  }
  const capture::NodeRow& node(std::int32_t id) const {
    return run.nodes()[static_cast<std::size_t>(id)];
  }
  float p_of(std::int32_t id) const { return std::exp(run.node_at(id, cursor).row.logprob); }

  const capture::Capture& run;
  std::int32_t number;
  capture::Tick cursor;
  std::vector<DraftPlace> places = {};
  std::map<std::int32_t, DrafterView> views = {};
  std::map<std::int32_t, capture::VerdictRow> refused = {};  // drafts, by node: the last try stands
  std::map<std::int32_t, std::int32_t> own = {};  // by parent: the target's own token there
};

DraftCauses::DraftCauses(const capture::Capture& capture)
    : capture_(capture), vocabulary_(capture.run()) {}

// Why the drafter did not send what came at the place, by its own rows.
DraftFailure DraftCauses::at_place(const Step& step, const DraftPlace& place,
                                   std::int32_t came) const {
  DraftFailure failure{.step = step.number, .node = came, .parent = place.parent};
  if (came < 0) return failure;
  failure.p = step.p_of(came);
  const auto found = step.views.find(came);
  const DrafterView view = found == step.views.end() ? DrafterView{} : found->second;
  failure.rank = view.rank;
  failure.q = view.q;
  failure.score = view.score;
  failure.cause = view.unknown_of > 0 ? DraftCause::kNoSuchToken
                  : view.is_withdrawn ? DraftCause::kWithdrawn
                  : view.rank >= 0    ? DraftCause::kRankedBelow
                  : view.has_row      ? DraftCause::kUnlisted
                                      : DraftCause::kNotProposed;
  return failure;
}

namespace {

// How the target held a refused draft against what came; kNotProposed = neither a draw nor a tie.
DraftCause against(float draft, float came) {
  if (std::isnan(draft) || std::isnan(came)) return DraftCause::kNotProposed;
  const double p = static_cast<double>(draft), other = static_cast<double>(came);
  if (p > other * (1 + kRoundingShare)) return DraftCause::kDraw;
  return p >= other * kNearTieShare ? DraftCause::kNearTie : DraftCause::kNotProposed;
}

}  // namespace

std::vector<DraftFailure> DraftCauses::places(std::int32_t number, capture::Tick cursor) const {
  if (!has_decided(number, cursor)) return {};
  const Step step(capture_, number, vocabulary_);
  std::vector<DraftFailure> failures;
  for (const DraftPlace& place : step.places) {
    if (place.accepted >= 0) continue;
    const auto own = step.own.find(place.parent);
    DraftFailure failure = at_place(step, place, own == step.own.end() ? -1 : own->second);
    for (const std::int32_t draft : place.drafts)
      if (const DraftCause how = against(step.p_of(draft), failure.p);
          how != DraftCause::kNotProposed)
        failure.cause = std::min(failure.cause, how);
    if (failure.node < 0) failure.node = place.drafts.front();
    failures.push_back(failure);
  }
  return failures;
}

std::vector<DraftFailure> DraftCauses::drafts(std::int32_t number, capture::Tick cursor) const {
  if (!has_decided(number, cursor)) return {};
  const Step step(capture_, number, vocabulary_);
  std::map<std::int32_t, const DraftPlace*> place_of;  // by parent
  for (const DraftPlace& place : step.places) place_of[place.parent] = &place;
  std::vector<DraftFailure> failures;
  for (const auto& [node, verdict] : step.refused) {
    const std::int32_t parent = step.node(node).parent;
    DraftFailure failure{.step = number, .node = node, .parent = parent, .p = step.p_of(node)};
    const auto found = place_of.find(parent);
    if (found == place_of.end() || verdict.reason == Reason::kParentRefused) {
      failure.cause = DraftCause::kParentRefused;
    } else if (verdict.reason == Reason::kAfterEnd) {
      failure.cause = DraftCause::kAfterEnd;
    } else if (is_off_path(verdict.reason)) {
      failure.cause = DraftCause::kOffPath;
    } else if (found->second->accepted >= 0) {
      failure.cause = DraftCause::kSibling;
    } else {
      const auto own = step.own.find(parent);
      const DraftFailure why =
          at_place(step, *found->second, own == step.own.end() ? -1 : own->second);
      failure.rank = why.rank;
      failure.q = why.q;
      failure.score = why.score;
      failure.cause = why.cause;
      if (const DraftCause how = against(failure.p, why.p); how != DraftCause::kNotProposed)
        failure.cause = how;
    }
    failures.push_back(failure);
  }
  return failures;
}

std::map<std::int32_t, DrafterView> explained_views(const capture::Capture& capture,
                                                    std::int32_t step, capture::Tick cursor) {
  std::map<std::int32_t, DrafterView> views = drafter_views(capture, step, cursor);
  if (views.empty() || !has_decided(step, cursor)) return views;
  const DraftCauses causes(capture);
  const std::vector<DraftFailure> drafts = causes.drafts(step, cursor);
  for (const DraftFailure& place : causes.places(step, cursor))
    for (const DraftFailure& draft : drafts) {
      if (draft.parent != place.parent || draft.cause != DraftCause::kNearTie) continue;
      DrafterView &view = views[draft.node], &came = views[place.node];
      view.tie = draft.p / place.p;
      view.tied = draft.node;
      // The nearest of several, unless the draw fell elsewhere.
      if (place.cause == DraftCause::kNearTie && !(came.tie >= view.tie))
        came.tie = view.tie, came.tied = draft.node;
    }
  return views;
}

}  // namespace triescope::viz

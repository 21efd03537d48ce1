#include "viz/query/acceptance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "viz/query/acceptance_causes.h"
#include "viz/query/draft_places.h"
#include "viz/query/drafter_view.h"
#include "viz/query/rank_paths.h"
#include "viz/query/row_entropy.h"
#include "viz/query/step_drafts.h"
#include "viz/query/step_range.h"
#include "viz/query/token_kind.h"

namespace triescope::viz {
namespace {

using capture::Capture;
using capture::NodeRow;

// A group's name and its place among the groups.
struct Group {
  std::string label;
  double order = 0;
};
using MaybeGroup = std::optional<Group>;

// "0.1 to 0.5", "4 and more"
Group entropy_bin(double value, std::initializer_list<double> edges) {
  const auto text = [](double edge) {
    std::ostringstream out;
    out << edge;
    return out.str();
  };
  double low = 0;
  for (const double edge : edges) {
    if (value < edge) return {text(low) + " to " + text(edge), low};
    low = edge;
  }
  return {text(low) + " and more", low};
}

// The facts about a step's drafts, gathered once.
class StepView {
 public:
  // As its accept phase left it: what comes later changes no figure. REQUIRES: that has passed.
  StepView(const Capture& capture, std::int32_t step)
      : capture_(capture), step_(step), cursor_(capture::make_tick(step, capture::Phase::kCommit)) {
    places = draft_places(capture, step, cursor_);
    if (places.empty()) return;
    std::vector<StepDraft> sent;  // at the places
    for (const StepDraft& draft : step_drafts(capture, step, cursor_))
      for (const DraftPlace& place : places)
        if (std::ranges::find(place.drafts, draft.node) != place.drafts.end())
          sent.push_back(draft);
    ranks_ = rank_paths(capture, sent);
  }
  std::vector<DraftPlace> places;

  MaybeGroup of_place(AcceptanceBy by, const DraftPlace& place) const {
    const NodeRow& parent = node(place.parent);
    if (by == AcceptanceBy::kDepth) return Group{std::to_string(place.level), 1.0 * place.level};
    if (by == AcceptanceBy::kPosition) {
      const int first = parent.depth / 16 * 16;
      return Group{std::to_string(first) + " to " + std::to_string(first + 15), 1.0 * first};
    }
    if (by == AcceptanceBy::kEntropy) {
      const auto rows = capture_.candidates(place.parent, cursor_);
      if (rows.empty()) return std::nullopt;
      return entropy_bin(entropy_of(rows), {0.1, 0.5, 1, 2, 4});
    }
    const std::int32_t token = came(place);
    if (token < 0) return std::nullopt;
    const TokenKind kind = token_kind(capture_.piece(token));
    return Group{to_string(kind), static_cast<double>(kind)};
  }

  MaybeGroup of_draft(AcceptanceBy by, std::int32_t draft) const {
    if (by == AcceptanceBy::kRank) {
      const int rank = ranks_.at(draft).back() + 1;
      return Group{std::to_string(rank), 1.0 * rank};
    }
    if (by == AcceptanceBy::kTree) {
      Group group{rank_text(ranks_.at(draft))};
      // By depth, then by ranks: a digit of a number for each of the first five levels.
      const RankPath& ranks = ranks_.at(draft);
      group.order = static_cast<double>(ranks.size());
      double part = 1;
      for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 5); ++i)
        group.order += std::min(ranks[i] + 1, 999) * (part /= 1000);
      return group;
    }
    if (by == AcceptanceBy::kSource) return Group{std::string(capture_.source_of(node(draft))), 0};
    const float q = q_of(draft);
    if (std::isnan(q)) return std::nullopt;
    if (q >= 1) return Group{"1", 10};
    const int tenth = std::clamp(static_cast<int>(q * 10), 0, 9);
    return Group{"0." + std::to_string(tenth) + " to " +
                     (tenth == 9 ? "1" : "0." + std::to_string(tenth + 1)),
                 1.0 * tenth};
  }

  float p_of(std::int32_t draft) const {
    const auto verdict = capture_.verdict_at(draft, cursor_);
    if (verdict && verdict->p >= 0) return verdict->p;
    const float logprob = capture_.node_at(draft, cursor_).row.logprob;
    return std::exp(logprob);
  }

 private:
  const NodeRow& node(std::int32_t id) const {
    return capture_.nodes()[static_cast<std::size_t>(id)];
  }

  // The token of the text behind a place: the accepted draft's, else the one that was emitted there.
  std::int32_t came(const DraftPlace& place) const {
    if (place.accepted >= 0) return node(place.accepted).token;
    for (const capture::VerdictRow& row : capture_.verdicts(step_)) {
      if (row.tick >= cursor_) break;
      if (row.node > 0 && node(row.node).parent == place.parent &&
          (row.verdict == capture::Verdict::kCorrected || row.verdict == capture::Verdict::kBonus))
        return node(row.node).token;
    }
    return -1;
  }

  // The drafter's probability of the token: from its own row where one is recorded, else the one with which
  // the draft was drawn, if it was.
  float q_of(std::int32_t draft) const {
    if (!views_) views_ = drafter_views(capture_, step_, cursor_);
    const auto view = views_->find(draft);
    if (view != views_->end() && !std::isnan(view->second.q)) return view->second.q;
    const float q = node(draft).q;
    return q < 1 ? q : std::numeric_limits<float>::quiet_NaN();
  }

  const Capture& capture_;
  std::int32_t step_;
  capture::Tick cursor_;
  std::map<std::int32_t, RankPath> ranks_;  // by node
  mutable std::optional<std::map<std::int32_t, DrafterView>> views_;
};

constexpr const char* kByNames[] = {"depth", "position", "kind",   "entropy", "cause",
                                    "rank",  "tree",     "source", "q",       "refused"};
constexpr const char* kByTitles[] = {"depth of the drafts",
                                     "position in the text, tokens",
                                     "kind of the token that came",
                                     "entropy of the target, nats",
                                     "why what came was not drafted",
                                     "rank among its siblings",
                                     "place in the tree, ranks from the frontier",
                                     "what proposed it",
                                     "q, the drafter's probability",
                                     "why it was refused"};

}  // namespace

const char* to_string(AcceptanceBy by) { return kByNames[static_cast<int>(by)]; }
const char* title_of(AcceptanceBy by) { return kByTitles[static_cast<int>(by)]; }

std::optional<AcceptanceBy> acceptance_by_name(std::string_view name) {
  for (int i = 0; i < kAcceptanceByCount; ++i)
    if (name == kByNames[i]) return static_cast<AcceptanceBy>(i);
  return std::nullopt;
}

Acceptance acceptance_by(const Capture& capture, AcceptanceBy by, capture::Tick cursor,
                         StepRange range) {
  if (is_of_causes(by)) return acceptance_by_cause(capture, by, cursor, range);
  std::map<std::string, AcceptanceGroup> groups;  // by label
  Acceptance all;
  const auto add = [&](const MaybeGroup& group, const AcceptanceCase& one) {
    if (!group) {
      ++all.unknown;
      return;
    }
    AcceptanceGroup& sum = groups[group->label];
    sum.label = group->label;
    sum.order = group->order;
    ++sum.n;
    sum.accepted += one.accepted;
    if (!std::isnan(one.p)) sum.sum_p += static_cast<double>(one.p), ++sum.with_p;
    sum.cases.push_back(one);
  };
  const capture::Tick end = std::min(cursor, capture.end_tick());
  for (std::int32_t step = 0; capture::make_tick(step, capture::Phase::kAccept) < end; ++step) {
    if (!is_within(range, step)) continue;
    const StepView view(capture, step);
    for (const DraftPlace& place : view.places) {
      if (is_of_places(by)) {
        add(view.of_place(by, place),
            {step, place.accepted >= 0 ? place.accepted : place.drafts.front(), place.accepted >= 0,
             std::numeric_limits<float>::quiet_NaN()});
        continue;
      }
      for (const std::int32_t draft : place.drafts)
        add(view.of_draft(by, draft), {step, draft, draft == place.accepted, view.p_of(draft)});
    }
  }
  for (auto& [label, group] : groups) all.groups.push_back(std::move(group));
  std::stable_sort(
      all.groups.begin(), all.groups.end(),
      [](const AcceptanceGroup& a, const AcceptanceGroup& b) { return a.order < b.order; });
  return all;
}

void add_acceptance(Acceptance& sum, const Acceptance& more) {
  sum.unknown += more.unknown;
  for (const AcceptanceGroup& group : more.groups) {
    auto found = std::find_if(sum.groups.begin(), sum.groups.end(),
                              [&](const AcceptanceGroup& one) { return one.label == group.label; });
    if (found == sum.groups.end()) {
      found = std::upper_bound(
          sum.groups.begin(), sum.groups.end(), group.order,
          [](double order, const AcceptanceGroup& one) { return order < one.order; });
      found = sum.groups.insert(found, {.label = group.label, .order = group.order});
    }
    found->n += group.n;
    found->accepted += group.accepted;
    found->sum_p += group.sum_p;
    found->with_p += group.with_p;
  }
}

}  // namespace triescope::viz

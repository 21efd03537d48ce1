#include "viz/query/judge_drafts.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/capture/reasons.h"
#include "viz/query/judge_by_ratio.h"

namespace triescope::viz {
namespace {

using capture::Reason;

// The part that all rules share: the children that are sent, and what the verdicts say of them.
class Judge {
 public:
  Judge(const JudgedText& text, const StepProposals& step, std::int32_t number,
        const std::set<std::int32_t>& sent, const RejudgeSettings& settings,
        const RejudgeSettings& recorded)
      : text_(text), number_(number), settings_(settings), recorded_(recorded) {
    for (const std::int32_t node : sent) below_[step.parents.at(node)].push_back(node);
    root_ = step.frontier;
    const capture::Tick accept = capture::make_tick(number, capture::Phase::kAccept);
    for (const capture::VerdictRow& row : text.capture().verdicts(number)) {
      if (row.tick != accept) continue;
      reasons_[row.node] = row.reason;
      if (row.verdict == capture::Verdict::kAccepted) accepted_.push_back(row.node);
    }
    std::ranges::sort(accepted_);
  }

  // greedy, and sample of chosen drafts: the draft passes that is what comes.
  JudgedDrafts by_match() const {
    const bool as_recorded = settings_.verify == recorded_.verify;
    if (!as_recorded && settings_.verify != "greedy") return {.not_known = NotKnown::kDraw};
    JudgedDrafts judged;
    std::int32_t at = root_;
    bool same = true;
    while (!text_.ends(at)) {
      const std::int32_t next = text_.next(at);
      const std::int32_t comes =
          as_recorded ? (next < 0 ? -1 : text_.token(next)) : text_.argmax(at, number_);
      // The text was stopped here, or the row was not recorded.
      if (comes < 0) return {.not_known = NotKnown::kTargetRow};
      ++judged.tokens;
      same = same && next >= 0 && text_.token(next) == comes;
      const auto draft = std::ranges::find_if(
          children(at), [&](std::int32_t node) { return text_.token(node) == comes; });
      if (draft == children(at).end()) {
        judged.same_text = same;
        return judged;
      }
      at = *draft;
      judged.path.push_back(at);
    }
    judged.same_text = same;
    return judged;
  }

  // typical, top_k: the longest path of drafts that pass; of several the likeliest.
  JudgedDrafts by_longest_path() const {
    std::map<std::int32_t, Passes> known;
    const auto path_if = [&](bool unknown_passes) {
      return longest_path([&](std::int32_t draft) {
        const auto [at, is_new] = known.try_emplace(draft, Passes::kUnknown);
        if (is_new) at->second = passes(draft);
        return at->second == Passes::kYes || (unknown_passes && at->second == Passes::kUnknown);
      });
    };
    JudgedDrafts judged{.path = path_if(false)};
    if (path_if(true) != judged.path) return {.not_known = NotKnown::kTargetRow};
    const std::int32_t last = judged.path.empty() ? root_ : judged.path.back();
    const bool ends = text_.ends(last);
    judged.tokens = static_cast<std::int32_t>(judged.path.size()) + !ends;
    judged.same_text = std::ranges::all_of(judged.path, [&](auto node) { return text_.has(node); });
    if (ends || !judged.same_text) return judged;
    const std::int32_t next = text_.next(last);
    if (settings_.verify == "top_k") {
      const std::int32_t best = recorded_.verify == "top_k" && judged.path == accepted_ && next >= 0
                                    ? text_.token(next)
                                    : text_.argmax(last, number_);
      judged.same_text = next >= 0 && best == text_.token(next);
    } else {
      // Its token is drawn: the same only where the same number drew it from the same row.
      judged.same_text = settings_.same_rule(recorded_) && judged.path == accepted_;
    }
    return judged;
  }

 private:
  const std::vector<std::int32_t>& children(std::int32_t node) const {
    static const std::vector<std::int32_t> none;
    const auto found = below_.find(node);
    return found == below_.end() ? none : found->second;
  }

  Passes passes(std::int32_t draft) const {
    if (settings_.verify == "top_k") return text_.in_top_k(draft, number_, settings_.accept_top_k);
    if (settings_.same_rule(recorded_) && std::ranges::find(accepted_, draft) != accepted_.end())
      return Passes::kYes;
    const auto reason = reasons_.find(draft);
    if (settings_.same_rule(recorded_) && reason != reasons_.end() &&
        rule_of(reason->second) == capture::ReasonRule::kTypical)
      return reason->second == Reason::kNotTypical ? Passes::kNo : Passes::kYes;
    return text_.is_typical(draft, number_, settings_.typical_epsilon, settings_.typical_delta);
  }

  // As core/verify's longest_accepted_path: the first drawn is looked at first.
  std::vector<std::int32_t> longest_path(const std::function<bool(std::int32_t)>& passes) const {
    struct Reached {
      std::vector<std::int32_t> path;
      double log_p = 0;
    };
    Reached best;
    std::vector<Reached> open{best};
    while (!open.empty()) {
      const Reached at = std::move(open.back());
      open.pop_back();
      if (at.path.size() > best.path.size() ||
          (at.path.size() == best.path.size() && at.log_p > best.log_p))
        best = at;
      const std::int32_t node = at.path.empty() ? root_ : at.path.back();
      if (text_.ends(node)) continue;
      const std::vector<std::int32_t>& drafts = children(node);
      for (auto draft = drafts.rbegin(); draft != drafts.rend(); ++draft) {
        if (!passes(*draft)) continue;
        Reached next = at;
        next.path.push_back(*draft);
        next.log_p += static_cast<double>(
            text_.logprob(*draft, capture::make_tick(number_, capture::Phase::kCommit)));
        open.push_back(std::move(next));
      }
    }
    return best.path;
  }

  const JudgedText& text_;
  std::int32_t number_, root_ = -1;
  const RejudgeSettings &settings_, &recorded_;
  std::map<std::int32_t, std::vector<std::int32_t>> below_;  // sent, as they were hung
  std::map<std::int32_t, Reason> reasons_;                   // by node
  std::vector<std::int32_t> accepted_;                       // as recorded, top down
};

}  // namespace

const char* words_of(NotKnown why) {
  switch (why) {
    case NotKnown::kNothing:
      return "";
    case NotKnown::kTargetRow:
      return "it needs more of the target's rows than was recorded";
    case NotKnown::kDrafterRow:
      return "which drafts it sends depends on the drafter's rows, which were not recorded";
    case NotKnown::kDraw:
      return "it needs random numbers that were never drawn";
    case NotKnown::kSeveralTexts:
      return "the step does not go on from one text";
  }
  return "";
}

JudgedDrafts judge_drafts(const JudgedText& text, const StepProposals& step, std::int32_t number,
                          const std::set<std::int32_t>& sent, const RejudgeSettings& settings,
                          const RejudgeSettings& recorded) {
  if (step.frontier < 0) return {.not_known = NotKnown::kSeveralTexts};
  if (judges_by_ratio(text, settings.verify)) {
    if (!judges_by_ratio(text, recorded.verify)) return {.not_known = NotKnown::kDraw};
    return judge_by_ratio(text, step, number, sent, settings.verify);
  }
  const Judge judge(text, step, number, sent, settings, recorded);
  return settings.verify == "typical" || settings.verify == "top_k" ? judge.by_longest_path()
                                                                    : judge.by_match();
}

}  // namespace triescope::viz

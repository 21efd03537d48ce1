// Accept's decisions about texts: which drafts were accepted, which one was refused and why, and
// the token that the target adds.
#include <algorithm>
#include <string>

#include "core/capture/reasons.h"
#include "viz/narration/reason_text.h"
#include "viz/narration/story.h"
#include "viz/query/draft_causes.h"
#include "viz/query/verdict_kinds.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::ReasonRule;
using capture::Verdict;
using capture::VerdictRow;

std::int32_t parent_of(const Story& story, std::int32_t node) {
  return story.capture.nodes()[static_cast<std::size_t>(node)].parent;
}

// The reason is about the draft itself, not about one above it.
bool is_substantive(Reason reason) {
  return reason != Reason::kNone && rule_of(reason) != ReasonRule::kNotReached;
}

std::string verify_sentence(std::span<const VerdictRow> drafts) {
  for (const VerdictRow& row : drafts)
    if (const ReasonRule rule = rule_of(row.reason);
        rule != ReasonRule::kNone && rule != ReasonRule::kNotReached)
      return "verify." + std::string(capture::to_string(rule));
  return "verify.other";
}

// The refusal that ended the walk: the first refused draft beside the token that the target put
// there, else the first one refused for a reason of its own.
const VerdictRow* decisive(const Story& story, std::span<const VerdictRow> drafts,
                           const VerdictRow* own) {
  const VerdictRow* first = nullptr;
  for (const VerdictRow& row : drafts) {
    if (row.verdict != Verdict::kRejected) continue;
    const bool told = is_substantive(row.reason) || !row.why.empty();
    if (!told) continue;
    if (own && parent_of(story, row.node) == parent_of(story, own->node)) return &row;
    if (!first) first = &row;
  }
  return first;
}

void tell_accepted(Story& story, std::span<const VerdictRow> drafts) {
  std::vector<std::vector<Value>> accepted;
  for (const VerdictRow& row : drafts)
    if (row.verdict == Verdict::kAccepted)
      accepted.push_back({story.node("node", row.node), story.probability("p", row.p, row.node)});
  const Value drafted =
      count("drafted", static_cast<std::int64_t>(drafts.size()), to_panel("verdict"));
  if (accepted.empty())
    return story.say(drafts.size() == 1 ? "accept.refused" : "accept.all_refused", {drafted});
  // A rule may record no p (-1); then only the token is told.
  const bool has_p = std::all_of(drafts.begin(), drafts.end(), [](const VerdictRow& row) {
    return row.verdict != Verdict::kAccepted || row.p >= 0;
  });
  if (drafts.size() == 1)
    return story.say("accept.came_true",
                     {story.list("tokens", has_p ? "item.token_p" : "item.node", accepted)});
  const Value number =
      count("accepted", static_cast<std::int64_t>(accepted.size()), to_panel("verdict"));
  story.say(
      accepted.size() == drafts.size() ? "accept.all_accepted" : "accept.accepted",
      {story.list("tokens", has_p ? "item.token_p" : "item.node", accepted), number, drafted});
}

void tell_candidates(Story& story, std::int32_t parent) {
  std::vector<std::vector<Value>> best;
  for (const capture::CandidateRow& row : story.capture.candidates(parent, story.cursor)) {
    if (best.size() == 3) break;
    best.push_back(
        {token(story.capture, "token", row.token, to_node(parent)),
         labelled("p", "p", std::exp(static_cast<double>(row.logprob)), 3, to_node(parent))});
  }
  const double vocabulary = story.model("vocab_size", 0);
  if (best.empty() || vocabulary < 1)
    return story.say("accept.row", {story.node("parent", parent)});
  story.say("accept.candidates",
            {story.node("parent", parent),
             count("vocabulary", static_cast<std::int64_t>(vocabulary), to_panel("candidates")),
             story.list("tokens", "item.candidate", best)});
}

// Tells about a token that was chosen without a draft in its place.
void tell_choice(Story& story, const VerdictRow& own) {
  tell_candidates(story, parent_of(story, own.node));
  if (!tell_reason(story, own)) story.say("accept.chosen", {story.node("node", own.node)});
}

DrafterView own_view(const Story& story, const VerdictRow* own) {
  if (!own) return {};
  const auto views = explained_views(story.capture, story.step, story.cursor);
  const auto found = views.find(own->node);
  return found == views.end() ? DrafterView{} : found->second;
}

void tell_own(Story& story, const VerdictRow& own, const DrafterView& view) {
  if (own.verdict == Verdict::kCorrected && view.tied >= 0)
    return story.say("accept.corrected.tie",
                     {story.node("node", own.node), story.node("draft", view.tied),
                      number("tie", static_cast<double>(view.tie), to_node(view.tied), 2)});
  story.say(own.verdict == Verdict::kBonus       ? "accept.bonus"
            : own.verdict == Verdict::kCorrected ? "accept.corrected"
                                                 : "accept.chosen",
            {story.node("node", own.node)});
}

// Tells why the drafter did not propose the token that the target added, if its rows say so.
void tell_drafter(Story& story, const VerdictRow& own, const DrafterView& view) {
  const std::string_view sentence = drafter_sentence(view, own.verdict);
  if (sentence.empty() || !is_targets_own(own.verdict)) return;
  const Target target = to_node(own.node);
  story.say(sentence,
            {story.node("node", own.node), word("drafter", drafter_name(view.whose)),
             ordinal("drafter_rank", view.rank + 1, target),
             labelled("drafter_q", "q", static_cast<double>(view.q), 3, target),
             labelled("drafter_score", "Σ log q", static_cast<double>(view.score), 3, target),
             number("least_sent", static_cast<double>(view.least_sent), to_panel("drafts")),
             count("proposed", view.proposed, to_panel("drafts")),
             count("listed", view.listed, to_panel("candidates")),
             count("vocabulary", view.unknown_of, to_panel("drafts"))});
}

struct Parts {
  std::vector<VerdictRow> drafts, taken_over;
  const VerdictRow *own = nullptr, *finished = nullptr;
};

Parts parts_of(std::span<const VerdictRow> verdicts) {
  Parts parts;
  for (const VerdictRow& row : verdicts) {
    if (row.reason == Reason::kForced || row.reason == Reason::kBranched)
      parts.taken_over.push_back(row);
    else if (row.verdict == Verdict::kAccepted || row.verdict == Verdict::kRejected)
      parts.drafts.push_back(row);
    else if (row.verdict == Verdict::kFinished)
      parts.finished = &row;
    else if (!parts.own)
      parts.own = &row;
  }
  return parts;
}

}  // namespace

void tell_texts(Story& story, std::span<const VerdictRow> verdicts) {
  const auto [drafts, taken_over, own, finished] = parts_of(verdicts);
  if (!taken_over.empty())
    story.say(taken_over.back().reason == Reason::kForced ? "accept.forced" : "accept.branched",
              {story.node("node", taken_over.back().node),
               count("tokens", static_cast<std::int64_t>(taken_over.size()), to_panel("text"))});
  const DrafterView view = drafts.empty() ? DrafterView{} : own_view(story, own);
  if (!drafts.empty()) {
    story.say(verify_sentence(drafts));
    tell_accepted(story, drafts);
    if (const VerdictRow* const refusal = decisive(story, drafts, own))
      tell_reason(story, *refusal);
    if (own) tell_own(story, *own, view);
    // An argmax needs no further reason, so the drafter's view comes first; a draw has a reason of
    // its own.
    if (own && own->reason == Reason::kArgmax) tell_drafter(story, *own, view);
  } else if (own) {
    tell_choice(story, *own);
  }
  if (finished) tell_reason(story, *finished);
  if (own && !drafts.empty()) {
    tell_reason(story, *own);
    if (own->reason != Reason::kArgmax) tell_drafter(story, *own, view);
  }
  if (own && drafts.empty() && !finished) {
    const auto prompt = static_cast<std::int64_t>(story.capture.run().prompt_tokens.size());
    const std::int32_t depth = story.capture.nodes()[static_cast<std::size_t>(own->node)].depth;
    story.say("accept.pending", {story.node("node", own->node),
                                 ordinal("position", prompt + depth - 1, to_node(own->node))});
  }
}

void tell_text_decision(Story& story, std::span<const VerdictRow> verdicts) {
  const auto [drafts, taken_over, own, finished] = parts_of(verdicts);
  if (!taken_over.empty()) return;
  if (const VerdictRow* const refusal = decisive(story, drafts, own))
    tell_reason(story, *refusal);
  else if (own && drafts.empty())
    tell_reason(story, *own);
  if (own && !drafts.empty()) tell_drafter(story, *own, own_view(story, own));
}

}  // namespace triescope::viz

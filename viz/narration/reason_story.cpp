// The reason of a verdict: a sentence for every reason code, with the numbers that decided.
#include <algorithm>
#include <string>

#include "viz/narration/story.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::VerdictRow;

// The node of the token in whose favour a draft was refused; -1 where the tree has none.
std::int32_t winner_of(const Story& story, const VerdictRow& row) {
  const auto& nodes = story.capture.nodes();
  const std::int32_t parent = nodes[static_cast<std::size_t>(row.node)].parent;
  for (const std::int32_t child : story.capture.children(parent))
    if (nodes[static_cast<std::size_t>(child)].token == row.replacement &&
        !capture::is_probe(nodes[static_cast<std::size_t>(child)]) &&
        story.capture.state_at(child, story.cursor) != capture::NodeState::kAbsent)
      return child;
  return -1;
}

// The values of one row, under the names that sentence_list.cpp gives them.
struct Values {
  const Story& story;
  const VerdictRow& row;

  Target node_target() const { return to_node(row.node); }
  Value node() const { return story.node("node", row.node); }
  Value p() const { return story.probability("p", row.p, row.node); }
  Value u() const { return labelled("u", "u", static_cast<double>(row.u), 3, node_target()); }
  Target other_target() const {
    const std::int32_t winner = winner_of(story, row);
    return to_node(winner >= 0 ? winner
                               : story.capture.nodes()[static_cast<std::size_t>(row.node)].parent);
  }
  Value other() const { return token(story.capture, "other", row.replacement, other_target()); }
  Value other_p() const { return story.probability("other_p", row.value, other_target().node); }
  Value ratio(const char* label) const {
    return labelled("ratio", label, static_cast<double>(row.threshold), 3, node_target());
  }
  Value block() const { return number("block", static_cast<double>(row.value), node_target()); }
  Value share() const { return number("share", static_cast<double>(row.p), node_target()); }
  Value threshold() const {
    return number("threshold", static_cast<double>(row.threshold), node_target());
  }
  Value rank() const { return ordinal("rank", row.rank + 1, node_target()); }
  Value counted() const { return count("count", row.count, to_panel("verdict")); }
  Value final_score() const {
    return number("final", static_cast<double>(row.score), node_target());
  }
  Value sum(double value) const { return story.sum_log_p("sum", value, row.node); }
  Value limit() const {
    return number("limit", static_cast<double>(row.threshold), node_target(), 2);
  }
  Value score() const { return number("score", static_cast<double>(row.value), node_target(), 2); }
};

}  // namespace

bool tell_reason(Story& story, const VerdictRow& row) {
  const Values v{story, row};
  const auto say = [&](std::string_view name, std::vector<Value> values) {
    story.say(name, std::move(values));
    return true;
  };
  if (!row.why.empty())
    return say("reason.own_words", {v.node(), word("why", row.why, v.node_target())});
  switch (row.reason) {
    case Reason::kNone:
      return false;
    case Reason::kIsArgmax:
      return say("reason.is_argmax", {v.node(), v.p()});
    case Reason::kNotArgmax:
      return say("reason.not_argmax", {v.node(), v.p(), v.rank(), v.other(), v.other_p()});
    case Reason::kDrawIsThis:
      return say("reason.draw_is_this", {v.node(), v.p()});
    case Reason::kDrawIsAnother:
      return say("reason.draw_is_another", {v.node(), v.p(), v.other(), v.other_p()});
    case Reason::kBelowRatio:
      return say("reason.below_ratio", {v.node(), v.u(), v.ratio("min(1, p′/q)")});
    case Reason::kNotBelowRatio:
      return say("reason.not_below_ratio", {v.node(), v.u(), v.ratio("min(1, p′/q)")});
    case Reason::kBlockReaches:
      return say("reason.block_reaches", {v.node(), v.u(), v.ratio("h"), v.block()});
    case Reason::kBlockGoesOn:
      return say("reason.block_goes_on", {v.node(), v.u(), v.ratio("h"), v.block()});
    case Reason::kBlockFallsShort:
      return say("reason.block_falls_short", {v.node(), v.u(), v.ratio("h"), v.block()});
    case Reason::kBelowRest:
      return say("reason.below_rest", {v.node(), v.u(), v.ratio("min(1, r/q)")});
    case Reason::kNotBelowRest:
      return say("reason.not_below_rest", {v.node(), v.u(), v.ratio("min(1, r/q)")});
    case Reason::kTypical:
      return say("reason.typical", {v.node(), v.p(), v.threshold()});
    case Reason::kNotTypical:
      return say("reason.not_typical", {v.node(), v.p(), v.threshold()});
    case Reason::kTypicalOffPath:
      return say("reason.typical_off_path", {v.node(), v.p(), v.threshold()});
    case Reason::kInTopK:
      return say("reason.in_top_k", {v.node(), v.rank(), v.counted()});
    case Reason::kNotInTopK:
      return say("reason.not_in_top_k", {v.node(), v.rank(), v.counted()});
    case Reason::kTopKOffPath:
      return say("reason.top_k_off_path", {v.node(), v.rank(), v.counted()});
    case Reason::kParentRefused:
      return say("reason.parent_refused", {v.node()});
    case Reason::kAfterEnd:
      return say("reason.after_end", {v.node()});
    case Reason::kNotReached:
      return say("reason.not_reached", {v.node()});
    case Reason::kArgmax:
      return say("reason.argmax", {v.node(), v.p()});
    case Reason::kGumbelArgmax:
      return say("reason.gumbel_argmax", {v.node(), v.p()});
    case Reason::kDrawn:
      if (row.u < 0) return say("reason.drawn_with_noise", {v.node(), v.p()});
      return say("reason.drawn", {v.node(), v.p(), v.u()});
    case Reason::kDrawnFromResidual:
      return say("reason.drawn_from_residual", {v.node(), v.share()});
    case Reason::kDrawnFromBlock:
      return say("reason.drawn_from_block", {v.node(), v.share()});
    case Reason::kDrawnFromRest:
      return say("reason.drawn_from_rest", {v.node(), v.share()});
    case Reason::kDrawnFromTypical:
      return say("reason.drawn_from_typical", {v.node(), v.p()});
    case Reason::kEos:
      return say("reason.eos", {v.node()});
    case Reason::kMaxTokens:
      return say("reason.max_tokens", {v.node()});
    case Reason::kBeamEos:
    case Reason::kBeamMaxTokens:
      return say(row.reason == Reason::kBeamEos ? "reason.beam_eos" : "reason.beam_max_tokens",
                 {v.node(), v.sum(static_cast<double>(row.value)),
                  count("length", row.count, v.node_target()), v.final_score()});
    case Reason::kBetterFinished:
      return say("reason.better_finished",
                 {v.node(), v.final_score(), v.counted(),
                  number("worst", static_cast<double>(row.threshold), to_panel("text"))});
    case Reason::kPrunedRelative:
      return say("reason.pruned_relative", {v.node(), v.score(), v.limit()});
    case Reason::kPrunedAbsolute:
      return say("reason.pruned_absolute", {v.node(), v.score(), v.limit()});
    case Reason::kPrunedLocal:
      return say("reason.pruned_local", {v.node(), v.score(), v.limit()});
    case Reason::kBeamKept:
      return say("reason.beam_kept", {v.node(), v.rank(), v.counted(), v.limit()});
    case Reason::kBeamKeptOfAll:
      return say("reason.beam_kept_of_all", {v.node(), v.rank(), v.counted()});
    case Reason::kNoneLeftAtMaxTokens:
      return say("reason.none_left_at_max_tokens", {v.node(), v.counted()});
    case Reason::kSearchOver:
      return say("reason.search_over", {v.node(), v.counted()});
    case Reason::kBeamOutdone:
      return say("reason.beam_outdone",
                 {v.node(), v.sum(static_cast<double>(row.value)), v.counted(), v.limit()});
    case Reason::kForced:
      return say("reason.forced", {v.node()});
    case Reason::kBranched:
      return say("reason.branched", {v.node()});
    case Reason::kNoLiveText:
      return say("reason.no_live_text", {v.node()});
    case Reason::kDraftOutdone:
      return say("reason.draft_outdone", {v.node(), v.counted()});
  }
  return false;
}

}  // namespace triescope::viz

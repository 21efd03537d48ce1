#include "viz/draw/reason_text.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "core/base/counted.h"
#include "viz/query/verdict_kinds.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::Reason;

// Has at least two significant digits: "0.41", "0.0032".
std::string number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, value != 0 && std::abs(value) < 0.1f ? "%.2g" : "%.2f",
                static_cast<double>(value));
  return text;
}

bool compares_ratio(Reason reason) {
  return reason == Reason::kBelowRatio || reason == Reason::kNotBelowRatio ||
         reason == Reason::kBelowRest || reason == Reason::kNotBelowRest;
}

}  // namespace

bool compares_block(Reason reason) {
  return reason == Reason::kBlockReaches || reason == Reason::kBlockGoesOn ||
         reason == Reason::kBlockFallsShort;
}

bool is_after_warpers(Reason reason) {
  switch (reason) {
    case Reason::kDrawIsThis:
    case Reason::kDrawIsAnother:
    case Reason::kTypical:
    case Reason::kNotTypical:
    case Reason::kTypicalOffPath:
    case Reason::kGumbelArgmax:
    case Reason::kDrawn:
    case Reason::kDrawnFromResidual:
    case Reason::kDrawnFromBlock:
    case Reason::kDrawnFromRest:
    case Reason::kDrawnFromTypical:
      return true;
    default:
      return compares_ratio(reason) || compares_block(reason);
  }
}

float acceptance_chance(const capture::VerdictRow& row) {
  return compares_ratio(row.reason) || compares_block(row.reason)
             ? row.threshold
             : std::numeric_limits<float>::quiet_NaN();
}

const char* acceptance_limit(Reason reason) {
  return compares_block(reason) ? "h" : "min(1, p′/q)";
}

std::string reason_text(const capture::VerdictRow& row, const TokenName& token) {
  const std::string p_name = is_after_warpers(row.reason) ? "p′" : "p",
                    p = p_name + " " + number(row.p);
  const std::string rank = std::to_string(row.rank + 1);
  const auto compared = [](const std::string& left, const char* sign, const char* name,
                           float right) { return left + sign + name + " = " + number(right); };
  const auto another_won = [&] {
    return token(row.replacement) + " (" + p_name + " " + number(row.value) + "), this has " + p;
  };
  const auto finished = [&](const char* how) {
    return how + (", " + number(row.value)) + " over " + counted(row.count, "token") + " = " +
           number(row.score);
  };
  const auto not_above = [&](const char* rule) {
    return std::string(rule) + ": " + number(row.value) + " is not above " + number(row.threshold);
  };
  const std::string u = "u " + number(row.u);
  const std::string among_best =
      "rank " + rank + " of p, the best " + std::to_string(row.count) + " pass";
  const std::string place = "number " + rank + " of " + counted(row.count, "beam");
  const std::string block = ", block p " + number(row.value);
  const char* const kPath = ", but another path is longer or likelier";
  const char* const kTypicalLimit = "min(epsilon, delta e^-H)";
  if (!row.why.empty()) return row.why;
  switch (row.reason) {
    case Reason::kNone:
      return row.verdict == capture::Verdict::kWithdrawn ? "drafted, but not sent to the target"
                                                         : "";
    case Reason::kIsArgmax:
      return "it is the argmax, " + p;
    case Reason::kNotArgmax:
      return "argmax is " + another_won() + ", rank " + rank;
    case Reason::kDrawIsThis:
      return "the draw from p′ gave this token, " + p;
    case Reason::kDrawIsAnother:
      return "the draw from p′ gave " + another_won();
    case Reason::kBelowRatio:
      return compared(u, " < ", "min(1, p′/q)", row.threshold);
    case Reason::kNotBelowRatio:
      return compared(u, " >= ", "min(1, p′/q)", row.threshold);
    case Reason::kBlockReaches:
      return compared(u, " <= ", "h", row.threshold) + block;
    case Reason::kBlockGoesOn:
      return compared(u, " > ", "h", row.threshold) + block + ", but a later draft reaches its h";
    case Reason::kBlockFallsShort:
      return compared(u, " > ", "h", row.threshold) + block;
    case Reason::kBelowRest:
      return compared(u, " < ", "min(1, r/q)", row.threshold);
    case Reason::kNotBelowRest:
      return compared(u, " >= ", "min(1, r/q)", row.threshold);
    case Reason::kTypical:
      return compared(p, " > ", kTypicalLimit, row.threshold);
    case Reason::kNotTypical:
      return compared(p, " <= ", kTypicalLimit, row.threshold);
    case Reason::kTypicalOffPath:
      return compared(p, " > ", kTypicalLimit, row.threshold) + kPath;
    case Reason::kInTopK:
    case Reason::kNotInTopK:
      return among_best;
    case Reason::kTopKOffPath:
      return among_best + kPath;
    case Reason::kParentRefused:
      return "a draft before it was refused";
    case Reason::kAfterEnd:
      return "the text ends before it";
    case Reason::kNotReached:
      return "the rule did not look at it";
    case Reason::kArgmax:
      return "argmax, " + p;
    case Reason::kGumbelArgmax:
      return "largest of logit + Gumbel noise, " + p;
    case Reason::kDrawn:
      return "drawn from p′" + (row.u >= 0 ? " with " + u : std::string()) + ", " + p;
    case Reason::kDrawnFromResidual:
      return "drawn from norm(max(0, p′ - q)), " + p;
    case Reason::kDrawnFromBlock:
      return "drawn from norm(max(0, block p × p′ - q)), " + p;
    case Reason::kDrawnFromRest:
      return "drawn from what the drafts left of p′, " + p;
    case Reason::kDrawnFromTypical:
      return "drawn from the typical tokens of p′, " + p;
    case Reason::kEos:
      return "end-of-sequence token";
    case Reason::kMaxTokens:
      return "max_new_tokens reached";
    case Reason::kBeamEos:
      return finished("end-of-sequence token");
    case Reason::kBeamMaxTokens:
      return finished("max_new_tokens");
    case Reason::kBetterFinished:
      return counted(row.count, "finished sequence") + (row.count == 1 ? " is" : " are") +
             " better, the worst of them " + number(row.threshold);
    case Reason::kPrunedRelative:
      return not_above("relative pruning");
    case Reason::kPrunedAbsolute:
      return not_above("absolute pruning");
    case Reason::kPrunedLocal:
      return not_above("relative local pruning");
    case Reason::kBeamKept:
      return place + "; the best one left out has " + number(row.threshold);
    case Reason::kBeamKeptOfAll:
      return place;
    case Reason::kNoneLeftAtMaxTokens:
      return "no continuation among the best " + std::to_string(row.count) +
             " when max_new_tokens was reached";
    case Reason::kSearchOver:
      return "the search is over: no live beam can get among the " + std::to_string(row.count) +
             " finished ones";
    case Reason::kBeamOutdone:
      return "its best continuation has " + number(row.value) + ", the last of " +
             counted(row.count, "beam") + " " + number(row.threshold);
    case Reason::kDraftOutdone:
      return "not among the best " + counted(row.count, "beam") + " of its level";
    case Reason::kForced:
      return "chosen by the user";
    case Reason::kBranched:
      return "taken over from the run this one branched from";
    case Reason::kNoLiveText:
      return "no live text goes through it any more";
  }
  return "";
}

std::string drafter_reason(const DrafterView& view, capture::Verdict verdict) {
  const bool ranked = view.is_withdrawn && !std::isnan(view.least_sent);
  if (verdict == capture::Verdict::kWithdrawn)
    return ranked ? "by reranking, Σ log q " + logprob_text(view.score) +
                        ", the last that was sent has " + logprob_text(view.least_sent)
                  : std::string();
  if (!is_targets_own(verdict) || !view.has_row) return "";
  const std::string who = drafter_name(view.whose);
  if (view.rank < 0) return "not among the " + std::to_string(view.listed) + " best of " + who;
  const std::string had =
      who + " had it " + ordinal_text(view.rank) + " (q " + number(view.q) + "), ";
  if (view.is_withdrawn) return had + (ranked ? "withdrawn by reranking" : "and withdrew it");
  return had + (view.proposed > 0 ? "behind the " + std::to_string(view.proposed) + " it proposed"
                                  : "and proposed none");
}

std::string reason_text(const capture::VerdictRow& row, const capture::Capture& capture) {
  return reason_text(
      row, [&](std::int32_t token) { return "'" + token_text(capture.piece(token)) + "'"; });
}

}  // namespace triescope::viz

#include "viz/narration/reason_text.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "core/capture/reasons.h"
#include "viz/narration/sentences.h"
#include "viz/query/verdict_kinds.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::ReasonRule;
using capture::ReasonUnit;

// A number with at least two significant digits: "0.41", "0.0032".
std::string two_digits(float value) {
  char text[32];
  std::snprintf(text, sizeof text, value != 0 && std::abs(value) < 0.1f ? "%.2g" : "%.2f",
                static_cast<double>(value));
  return text;
}

struct ShortValue {
  std::string text;
  std::int32_t number = 0;  // which of two words stands beside it
};

// Fills the short form of a sentence; value(name) gives its values.
template <class ValueOf>
std::string fill_short(std::string_view sentence, const ValueOf& value) {
  std::string text;
  for (const TemplatePart& part : Sentences::standard_or_built_in().short_of(sentence)) {
    if (part.kind == TemplatePart::Kind::kWords)
      text += part.text;
    else if (part.kind == TemplatePart::Kind::kValue)
      text += value(part.text).text;
    else
      text += value(part.text).number == 1 ? part.one : part.many;
  }
  return text;
}

ShortValue short_value(const capture::VerdictRow& row, std::string_view name,
                       const TokenName& token) {
  const capture::ReasonValue& kind = capture::reason_value(name);
  const double value = kind.of(row);
  const auto whole = [&] { return static_cast<std::int32_t>(value); };
  const std::string digits = two_digits(static_cast<float>(value));
  switch (kind.unit) {
    case ReasonUnit::kProbability:
      return {(is_after_warpers(row.reason) ? "p′ " : "p ") + digits};
    case ReasonUnit::kUniform:
      return {"u " + digits};
    case ReasonUnit::kRatio:
      return {acceptance_limit_name(row.reason) + (" = " + digits)};
    case ReasonUnit::kRank:
      return {std::to_string(whole() + 1), whole() + 1};
    case ReasonUnit::kCount:
      return {std::to_string(whole()), whole()};
    case ReasonUnit::kToken:
      return {token(whole())};
    case ReasonUnit::kShare:
    case ReasonUnit::kLogProbability:
    case ReasonUnit::kSum:
    case ReasonUnit::kScore:
      break;
  }
  return {digits};
}

ShortValue short_value(const DrafterView& view, std::string_view name) {
  if (name == "drafter") return {drafter_name(view.whose)};
  if (name == "tie") return {two_digits(view.tie)};
  if (name == "drafter_rank") return {ordinal_text(view.rank), view.rank + 1};
  if (name == "drafter_q") return {"q " + two_digits(view.q)};
  if (name == "drafter_score") return {"Σ log q " + logprob_text(view.score)};
  if (name == "least_sent") return {logprob_text(view.least_sent)};
  if (name == "listed") return {std::to_string(view.listed), view.listed};
  if (name == "vocabulary") return {std::to_string(view.unknown_of), view.unknown_of};
  return {std::to_string(view.proposed), view.proposed};
}

}  // namespace

std::string reason_sentence(const capture::VerdictRow& row) {
  if (!row.why.empty()) return "reason.own_words";
  if (row.reason == Reason::kNone) return "";
  // The draw of a sampler with noise has no u.
  if (row.reason == Reason::kDrawn && row.u < 0) return "reason.drawn_with_noise";
  return "reason." + std::string(capture::to_string(row.reason));
}

std::string reason_text(const capture::VerdictRow& row, const TokenName& token) {
  if (!row.why.empty()) return row.why;
  const bool is_unsent = row.verdict == capture::Verdict::kWithdrawn;
  const std::string sentence =
      row.reason == Reason::kNone && is_unsent ? "reason.not_sent" : reason_sentence(row);
  if (sentence.empty()) return "";
  return fill_short(sentence, [&](std::string_view name) { return short_value(row, name, token); });
}

std::string reason_text(const capture::VerdictRow& row, const capture::Capture& capture) {
  return reason_text(
      row, [&](std::int32_t token) { return "'" + token_text(capture.piece(token)) + "'"; });
}

float acceptance_limit(const capture::VerdictRow& row) {
  return carries(row.reason, "ratio") ? row.threshold : std::numeric_limits<float>::quiet_NaN();
}

const char* acceptance_limit_name(Reason reason) {
  switch (rule_of(reason)) {
    case ReasonRule::kBlock:
      return "h";
    case ReasonRule::kMultiRound:
      return "min(1, r/q)";
    default:
      return "min(1, p′/q)";
  }
}

std::string_view drafter_sentence(const DrafterView& view, capture::Verdict verdict) {
  const bool is_ranked = view.is_withdrawn && !std::isnan(view.least_sent);
  if (verdict == capture::Verdict::kWithdrawn) return is_ranked ? "drafter.ranked_out" : "";
  if (!is_targets_own(verdict)) return "";
  // Where nothing was drafted, no vocabulary is to blame.
  if (view.unknown_of > 0 && (view.has_row || verdict == capture::Verdict::kCorrected))
    return "drafter.not_in_vocabulary";
  if (!view.has_row) return "";
  if (view.rank < 0) return "drafter.unlisted";
  if (view.is_withdrawn) return is_ranked ? "drafter.reranked" : "drafter.withdrawn";
  return view.proposed > 0 ? "drafter.not_proposed" : "drafter.proposed_none";
}

std::string drafter_reason(const DrafterView& view, capture::Verdict verdict) {
  const std::string_view sentence = drafter_sentence(view, verdict);
  if (sentence.empty()) return "";
  return fill_short(sentence, [&](std::string_view name) { return short_value(view, name); });
}

std::string tie_reason(const DrafterView& view, capture::Verdict verdict) {
  if (std::isnan(view.tie)) return "";
  return fill_short(is_targets_own(verdict) ? "tie.came" : "tie.draft",
                    [&](std::string_view name) { return short_value(view, name); });
}

}  // namespace triescope::viz

// Codes and numbers of a capture become sentences.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/words.h"
#include "tests/support/fixtures.h"
#include "tests/unit/viz/captures.h"
#include "viz/narration/reason_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz::test_reason_text {
namespace {

using capture::Reason;
using capture::VerdictRow;

std::string named(std::int32_t token) { return "<" + std::to_string(token) + ">"; }

// Every figure differs, so that a sentence shows which one it took.
VerdictRow full_row(Reason reason) {
  return {.p = 0.11f,
          .q = 0.22f,
          .u = 0.33f,
          .rank = 3,
          .score = -5.5f,
          .gap = 0.66f,
          .replacement = 77,
          .reason = reason,
          .value = -8.8f,
          .threshold = -9.9f,
          .count = 12};
}

std::string sentence(Reason reason) { return reason_text(full_row(reason), named); }

TEST_CASE("reasons: every code has a sentence, and every number in it is one of the row's") {
  // In the written form: p, u, rank (from 1), score, replacement, value, threshold, count, and the
  // 1 of min(1, p′/q).
  const std::set<std::string> known = {"0.11",  "0.33",  "4",  "-5.50", "77",
                                       "-8.80", "-9.90", "12", "1",     "0"};
  std::set<std::string> sentences;
  for (int code = 1; code < capture::kReasonCount; ++code) {
    CAPTURE(code);
    const std::string text = sentence(static_cast<Reason>(code));
    CHECK_FALSE(text.empty());
    sentences.insert(text);
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = text.find_first_of("0123456789", i);
      if (begin == std::string::npos) break;
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
      const bool negative = begin > 0 && text[begin - 1] == '-';
      const std::string number = text.substr(begin - negative, end - begin + negative);
      CAPTURE(text);
      CAPTURE(number);
      CHECK(known.contains(number));
      i = end;
    }
  }
  // Both reasons about the best K say it by the same two numbers.
  CHECK(sentences.size() == static_cast<std::size_t>(capture::kReasonCount) - 2);
  CHECK(sentence(Reason::kInTopK) == sentence(Reason::kNotInTopK));
}

TEST_CASE("reasons: the sentences, word by word") {
  const std::vector<std::pair<Reason, std::string>> expected = {
      {Reason::kNone, ""},
      {Reason::kIsArgmax, "it is the argmax, p 0.11"},
      {Reason::kNotArgmax, "argmax is <77> (p -8.80), this has p 0.11, rank 4"},
      {Reason::kDrawIsThis, "the draw from p′ gave this token, p′ 0.11"},
      {Reason::kDrawIsAnother, "the draw from p′ gave <77> (p′ -8.80), this has p′ 0.11"},
      {Reason::kBelowRatio, "u 0.33 < min(1, p′/q) = -9.90"},
      {Reason::kNotBelowRatio, "u 0.33 >= min(1, p′/q) = -9.90"},
      {Reason::kBlockReaches, "u 0.33 <= h = -9.90, block p -8.80"},
      {Reason::kBlockGoesOn, "u 0.33 > h = -9.90, block p -8.80, but a later draft reaches its h"},
      {Reason::kBlockFallsShort, "u 0.33 > h = -9.90, block p -8.80"},
      {Reason::kDrawnFromBlock, "drawn from norm(max(0, block p × p′ - q)), p′ 0.11"},
      {Reason::kBelowRest, "u 0.33 < min(1, r/q) = -9.90"},
      {Reason::kNotBelowRest, "u 0.33 >= min(1, r/q) = -9.90"},
      {Reason::kTypical, "p′ 0.11 > min(epsilon, delta e^-H) = -9.90"},
      {Reason::kNotTypical, "p′ 0.11 <= min(epsilon, delta e^-H) = -9.90"},
      {Reason::kTypicalOffPath,
       "p′ 0.11 > min(epsilon, delta e^-H) = -9.90, but another path is longer or likelier"},
      {Reason::kInTopK, "rank 4 of p, the best 12 pass"},
      {Reason::kTopKOffPath,
       "rank 4 of p, the best 12 pass, but another path is longer or likelier"},
      {Reason::kDrawn, "drawn from p′ with u 0.33, p′ 0.11"},
      {Reason::kDrawnFromResidual, "drawn from norm(max(0, p′ - q)), p′ 0.11"},
      {Reason::kBeamEos, "end-of-sequence token, -8.80 over 12 tokens = -5.50"},
      {Reason::kBeamMaxTokens, "max_new_tokens, -8.80 over 12 tokens = -5.50"},
      {Reason::kBetterFinished, "12 finished sequences are better, the worst of them -9.90"},
      {Reason::kPrunedRelative, "relative pruning: -8.80 is not above -9.90"},
      {Reason::kPrunedAbsolute, "absolute pruning: -8.80 is not above -9.90"},
      {Reason::kPrunedLocal, "relative local pruning: -8.80 is not above -9.90"},
      {Reason::kBeamKept, "number 4 of 12 beams; the best one left out has -9.90"},
      {Reason::kBeamKeptOfAll, "number 4 of 12 beams"},
      {Reason::kNoneLeftAtMaxTokens,
       "no continuation among the best 12 when max_new_tokens was reached"},
      {Reason::kSearchOver, "the search is over: no live beam can get among the 12 finished ones"},
      {Reason::kBeamOutdone, "its best continuation has -8.80, the last of 12 beams -9.90"}};
  for (const auto& [reason, text] : expected) {
    CAPTURE(static_cast<int>(reason));
    CHECK(sentence(reason) == text);
  }
  VerdictRow row = full_row(Reason::kDrawn);
  row.u = -1;  // Gumbel-max has no u
  row.p = 0.0321f;
  CHECK(reason_text(row, named) == "drawn from p′, p′ 0.032");
  row = full_row(Reason::kBeamEos);
  row.count = 1;
  CHECK(reason_text(row, named) == "end-of-sequence token, -8.80 over 1 token = -5.50");
}

TEST_CASE("reasons: a token is shown as the capture spells it, in quotes") {
  const capture::Capture& run = test::beam_capture();
  VerdictRow row = full_row(Reason::kNotArgmax);
  row.replacement = run.nodes()[1].token;
  const std::string text = "'" + token_text(run.piece(row.replacement)) + "'";
  CHECK(reason_text(row, run) == "argmax is " + text + " (p -8.80), this has p 0.11, rank 4");
}

TEST_CASE("reasons: the recorder's own words are told as they are, beside a code or without") {
  const capture::Capture& run = test::beam_capture();
  CHECK(reason_text({.why = "token 4 lost the draw"}, run) == "token 4 lost the draw");
  CHECK(reason_text({.p = 0.4f, .reason = Reason::kIsArgmax, .why = "my rule"}, run) == "my rule");
}

TEST_CASE("reasons: p is that after the warpers where the rule drew from it, else the model's") {
  using capture::Reason;
  const std::set<Reason> after = {
      Reason::kDrawIsThis,        Reason::kDrawIsAnother, Reason::kBelowRatio,
      Reason::kNotBelowRatio,     Reason::kBelowRest,     Reason::kNotBelowRest,
      Reason::kBlockReaches,      Reason::kBlockGoesOn,   Reason::kBlockFallsShort,
      Reason::kDrawnFromBlock,    Reason::kTypical,       Reason::kNotTypical,
      Reason::kTypicalOffPath,    Reason::kGumbelArgmax,  Reason::kDrawn,
      Reason::kDrawnFromResidual, Reason::kDrawnFromRest, Reason::kDrawnFromTypical};
  for (int i = 0; i < capture::kReasonCount; ++i) {
    CAPTURE(i);
    CHECK(is_after_warpers(static_cast<Reason>(i)) == after.contains(static_cast<Reason>(i)));
  }
}

TEST_CASE("reasons: every name of a value is one that reasons.def describes") {
  std::set<std::string> carried;
  for (int code = 1; code < capture::kReasonCount; ++code)
    for (const std::string& name : words(values_of(static_cast<Reason>(code)))) {
      CHECK(capture::reason_value(name).name == name);
      CHECK(carries(static_cast<Reason>(code), name));
      carried.insert(name);
    }
  CHECK(carried.size() == capture::reason_values().size());
  CHECK_FALSE(carries(Reason::kNotArgmax, "othe"));
  CHECK_FALSE(carries(Reason::kNone, ""));
  CHECK_THROWS_AS(capture::reason_value("height"), Error);
}

TEST_CASE("reasons: what u is compared with is the rule's") {
  using capture::Reason;
  capture::VerdictRow row{
      .p = 0.5f, .q = 0.25f, .reason = Reason::kNotBelowRest, .threshold = 0.75f};
  CHECK(acceptance_limit(row) == 0.75f);
  row.reason = Reason::kDrawnFromRest;
  CHECK(std::isnan(acceptance_limit(row)));
  row.reason = Reason::kNone;
  CHECK(std::isnan(acceptance_limit(row)));
  CHECK(acceptance_limit_name(Reason::kBelowRatio) == std::string("min(1, p′/q)"));
  CHECK(acceptance_limit_name(Reason::kNotBelowRest) == std::string("min(1, r/q)"));
  CHECK(acceptance_limit_name(Reason::kBlockGoesOn) == std::string("h"));
}

}  // namespace
}  // namespace triescope::viz::test_reason_text

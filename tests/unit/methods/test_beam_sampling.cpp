// Speculative beam sampling has the law of plain beam sampling, counted out over a tiny vocabulary: every level
// is so many independent draws, with replacement, from the joint distribution of all live beams.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/verify/beam_width.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_beam_sampling {
namespace {

using nlohmann::json;

constexpr std::int64_t kRuns = kSanitized ? 2000 : 20000;
const Tokens kPrompt = {1, 2, 0, 1};

using Texts = std::multiset<Tokens>;  // the beams of a level, a text as often as it was drawn
using Law = std::map<Texts, double>;
using Joint = std::map<Tokens, double>;  // by text, one token longer

Joint joint_of(FakeModel& model, const Texts& beams, const std::map<Tokens, double>& score) {
  Joint joint;
  double sum = 0;
  for (const Tokens& beam : beams) {
    Tokens text = kPrompt;
    text.insert(text.end(), beam.begin(), beam.end());
    const auto p = softmax(model.logits_of(text));
    for (std::size_t x = 0; x < p.size(); ++x) {
      Tokens longer = beam;
      longer.push_back(static_cast<std::int32_t>(x));
      joint[longer] += score.at(beam) * p[x];
      sum += score.at(beam) * p[x];
    }
  }
  for (auto& [text, p] : joint) p /= sum;
  return joint;
}

// p(text) of every text of up to `length` tokens, which is the score of a beam.
std::map<Tokens, double> scores(FakeModel& model, int length) {
  std::map<Tokens, double> all{{{}, 1.0}};
  const LogitsOf logits = [&](std::span<const std::int32_t> text) { return model.logits_of(text); };
  for (int n = 1; n <= length; ++n)
    for (const auto& [text, p] : exact_texts(kPrompt, n, logits)) all[text] = p;
  return all;
}

// Plain beam sampling: `width(beams)` draws a level.
Law plain_law(FakeModel& model, int length, const std::function<int(const Texts&)>& width) {
  const auto score = scores(model, length);
  Law law{{Texts{{}}, 1.0}};
  for (int level = 0; level < length; ++level) {
    Law next;
    for (const auto& [beams, chance] : law) {
      const Joint joint = joint_of(model, beams, score);
      Law drawn{{Texts{}, chance}};
      for (int i = 0; i < width(beams); ++i) {
        Law more;
        for (const auto& [texts, p] : drawn)
          for (const auto& [text, share] : joint) {
            Texts with = texts;
            with.insert(text);
            more[with] += p * share;
          }
        drawn = std::move(more);
      }
      for (const auto& [texts, p] : drawn) next[texts] += p;
    }
    law = std::move(next);
  }
  return law;
}

// The returned texts of a run, each once: what can be counted.
using Seen = std::set<Tokens>;

FakeOptions target() { return {.vocab_size = 3, .seed = 4, .eos_token_ids = {}, .spread = 1.2f}; }

struct Counted {
  std::map<Seen, std::int64_t> counts;
  std::int64_t levels = 0, steps = 0;
};
Counted count(const json& settings, int length, bool by_model) {
  Counted out;
  FakeOptions draft = target();
  draft.seed = 8;
  for (std::int64_t i = 0; i < kRuns; ++i) {
    Rig rig(target(), capture::Level::kOff);
    if (by_model) rig.draft_with(draft);
    rig.start("speculative_beam", settings, kPrompt, length, static_cast<std::uint64_t>(i) + 1)
        .run();
    Seen seen;
    for (const Tokens& text : tokens_of(rig.session->result())) seen.insert(text);
    ++out.counts[seen];
    const auto& histogram = rig.session->result().levels_histogram;
    for (std::size_t k = 0; k < histogram.size(); ++k) {
      out.levels += static_cast<std::int64_t>(k) * histogram[k];
      out.steps += histogram[k];
    }
  }
  return out;
}

void check_law(const Law& law, const Counted& counted) {
  std::map<Seen, double> exact;
  for (const auto& [texts, p] : law) exact[Seen(texts.begin(), texts.end())] += p;
  const ChiSquare chi = chi_square(exact, counted.counts, kRuns);
  CHECK(chi.cells > 20);
  CHECK(chi.value < chi.limit);
}

TEST_CASE(
    "speculative beam sampling: the law of plain beam sampling, drafted by a model or the text") {
  FakeModel model(target());
  const Law law = plain_law(model, 4, [](const Texts&) { return 2; });
  const json settings = {{"do_sample", true}, {"num_beams", 2},  {"num_return_sequences", 2},
                         {"draft_levels", 2}, {"candidates", 0}, {"early_stopping", "never"}};
  for (const bool by_model : {true, false}) {
    CAPTURE(by_model);
    const Counted counted = count(settings, 4, by_model);
    check_law(law, counted);
    if (by_model) CHECK(counted.levels * 3 > counted.steps);
  }
}

TEST_CASE(
    "speculative beam sampling of dynamic width: the law of plain beam sampling of those widths") {
  FakeModel model(target());
  FakeOptions other = target();
  other.seed = 8;
  FakeModel draft(other);
  const auto score = scores(model, 2);
  std::set<int> widths;
  // The width of a level follows from P and q, before any draft is drawn.
  const auto width = [&](const Texts& beams) {
    if (beams.begin()->empty()) return 3;  // prefill has no drafts
    Texts once;
    for (const Tokens& beam : beams)
      if (!once.contains(beam)) once.insert(beam);
    const Joint p = joint_of(model, beams, score), q = joint_of(draft, once, score);
    Joint cur = p;
    std::vector<double> pass;
    for (int i = 0; i < 3; ++i) {
      double both = 0, left = 0;
      for (auto& [text, share] : cur) {
        both += std::min(share, q.at(text));
        share = std::max(share - q.at(text), 0.0);
        left += share;
      }
      for (auto& [text, share] : cur) share /= left;
      pass.push_back(both);
    }
    const int n = beam_width(pass, 0.6, 1);
    widths.insert(n);
    return n;
  };
  // Two tokens would leave no room for a draft: the third is drawn from what the second left.
  const Law law = plain_law(
      model, 3, [&](const Texts& beams) { return beams.begin()->size() == 2 ? 3 : width(beams); });
  const Counted counted = count({{"do_sample", true},
                                 {"num_beams", 3},
                                 {"num_return_sequences", 3},
                                 {"draft_levels", 1},
                                 {"dynamic_width", true},
                                 {"pass_chance", 0.6},
                                 {"candidates", 0},
                                 {"early_stopping", "never"}},
                                3, true);
  CHECK(widths.size() > 1);
  check_law(law, counted);
}

TEST_CASE("speculative beam sampling: ends, records, and what it refuses") {
  FakeOptions options{.vocab_size = 14, .eos_boost = 1.5f, .chain = {5, 6, 7, 8, 9, 5}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig(options);
    FakeOptions draft = options;
    draft.seed = 5;
    rig.draft_with(draft);
    rig.start("speculative_beam",
              {{"do_sample", true},
               {"num_beams", 3},
               {"num_return_sequences", 3},
               {"kv", "compact"},
               {"gc_every", 2}},
              {5, 6, 7, 3}, 20, seed)
        .run();
    const RunResult result = rig.session->result();
    for (const ReturnedSequence& text : result.sequences) {
      REQUIRE_FALSE(text.tokens.empty());
      CHECK((text.finish == "eos") == (text.tokens.back() == 0));
      CHECK(std::ranges::count(text.tokens, 0) == (text.finish == "eos" ? 1 : 0));
    }
    std::int64_t drafted = 0, settled = 0;
    for (const auto& row : rig.recorder.steps) drafted += row.drafted;
    std::set<std::int32_t> decided;
    for (const auto& row : rig.recorder.verdict_rows)
      if (capture::is_drafted(rig.session->tree()[NodeId(row.node)].source) &&
          decided.insert(row.node).second)
        ++settled;
    CHECK(settled == drafted);
  }
  Rig rig(options);
  CHECK(
      refusal(ErrorCode::kInvalidArgument, [&] {
        rig.start("speculative_beam", {{"do_sample", true}, {"num_beams", 2}, {"least_beams", 3}});
      }) == "least_beams: expected at most num_beams (2); found 3");
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          rig.start("speculative_beam", {{"do_sample", true}, {"prune_absolute", 1.0}});
        }).starts_with("prune_absolute: pruning is for search"));
}

}  // namespace
}  // namespace triescope::test::test_beam_sampling

// Rows of logits that stay on a device: every method decodes and records what it does with whole rows,
// and the common ones bring no whole row to the host.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "core/methods/registry.h"
#include "tests/support/fake_head.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/rows_on_device.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_rows_on_device {
namespace {

constexpr int kVocab = 90;
const std::vector<std::int32_t> kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

FakeOptions fake_options(std::uint64_t seed) {
  return {.vocab_size = kVocab, .seed = seed, .eos_boost = -9, .chain = {5, 6, 7, 8, 9, 5}};
}

struct Run {
  Run(const MethodInfo& method, bool on_device, nlohmann::json settings,
      capture::Level level = capture::Level::kFull)
      : recorder(level) {
    RunConfig config;
    config.method = method.name;
    config.prompt_tokens = kPrompt;
    config.max_new_tokens = 40;
    config.settings = std::move(settings);
    if (method.needs == Need::kDraftModel)
      config.draft = {on_device ? static_cast<Model*>(&far_draft) : &draft, &tokenizer, nullptr};
    if (method.needs == Need::kDraftHead) {
      head = fake_head(method.heads.front(), kVocab, 4096, 5, fake_options(5).chain);
      if (head->layers && on_device) {
        head_layers = std::move(head->layers);
        head->layers = std::make_unique<RowsOnDevice>(*head_layers);
      }
      config.draft = {nullptr, nullptr, head.get()};
    }
    session = std::make_unique<Session>(on_device ? static_cast<Model&>(far_model) : model,
                                        tokenizer, std::move(config), recorder);
    session->run();
    REQUIRE(recorder.status == capture::RunStatus::kDone);
  }

  FakeModel model{fake_options(1)}, draft{fake_options(5)};
  RowsOnDevice far_model{model}, far_draft{draft};
  FakeTokenizer tokenizer{kVocab};
  MemoryRecorder recorder;
  std::unique_ptr<Model> head_layers;
  std::unique_ptr<DraftHead> head;
  std::unique_ptr<Session> session;
};

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void check_same(const Run& far, const Run& whole) {
  CHECK(tokens_of(far.session->result()) == tokens_of(whole.session->result()));
  const auto scores = scores_of(far.session->result()),
             expected = scores_of(whole.session->result());
  REQUIRE(scores.size() == expected.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    CHECK(same_bits(static_cast<float>(scores[i]), static_cast<float>(expected[i])));
  const auto compare = [](const auto& rows, const auto& wanted, const auto& equal) {
    REQUIRE(rows.size() == wanted.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!equal(rows[i], wanted[i])) FAIL("row " << i << " differs");
  };
  using namespace capture;
  compare(far.recorder.node_rows, whole.recorder.node_rows, [](const NodeRow& a, const NodeRow& b) {
    return a.parent == b.parent && a.token == b.token && a.tick == b.tick &&
           same_bits(a.logprob, b.logprob) && same_bits(a.score, b.score);
  });
  compare(far.recorder.verdict_rows, whole.recorder.verdict_rows,
          [](const VerdictRow& a, const VerdictRow& b) {
            return a.node == b.node && a.verdict == b.verdict && a.rank == b.rank &&
                   a.replacement == b.replacement && same_bits(a.p, b.p) &&
                   same_bits(a.score, b.score) && same_bits(a.gap, b.gap);
          });
  compare(far.recorder.candidate_rows, whole.recorder.candidate_rows,
          [](const CandidateRow& a, const CandidateRow& b) {
            return a.node == b.node && a.rank == b.rank && a.token == b.token &&
                   a.chosen == b.chosen && same_bits(a.logprob, b.logprob);
          });
  compare(
      far.recorder.stage_rows, whole.recorder.stage_rows, [](const StageRow& a, const StageRow& b) {
        return a.node == b.node && a.stage == b.stage && a.token == b.token && same_bits(a.p, b.p);
      });
}

TEST_CASE("rows on a device: every method decodes and records the same") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    const auto has = [&](const char* name) {
      return std::ranges::any_of(method.parameters,
                                 [&](const Parameter& p) { return p.name == name; });
    };
    std::vector<nlohmann::json> settings = {nlohmann::json::object(), {{"candidates", 80}}};
    if (has("verify")) {
      settings.push_back({{"verify", "sample"}});
      settings.push_back({{"verify", "top_k"}, {"accept_top_k", 3}});
    }
    if (has("repetition_penalty")) settings.push_back({{"repetition_penalty", 1.3}});
    if (has("num_beams")) settings.push_back({{"num_beams", 20}});
    if (has("num_beams")) settings.push_back({{"num_beams", 40}});  // more than a device looks for
    for (const nlohmann::json& given : settings) {
      CAPTURE(given.dump());
      for (const capture::Level level : {capture::Level::kFull, capture::Level::kTree})
        check_same(Run(method, true, given, level), Run(method, false, given, level));
    }
  }
}

TEST_CASE("rows on a device: greedy decoding and beam search bring no row to the host") {
  const Run greedy(find_method("greedy"), true, {});
  CHECK(greedy.far_model.asked.size() == 40);
  for (const int best : greedy.far_model.asked) CHECK(best == 16);  // "candidates"
  CHECK(greedy.far_model.whole_rows == 0);
  CHECK(greedy.far_model.single_logits == 0);

  const Run beam(find_method("beam"), true, {{"num_beams", 9}});
  for (const int best : beam.far_model.asked) CHECK(best == 2 * 9 + 8);
  CHECK(beam.far_model.whole_rows == 0);
  CHECK(beam.far_model.single_logits == 0);
}

TEST_CASE("rows on a device: whoever draws or changes logits takes whole rows at once") {
  for (const nlohmann::json& given :
       {nlohmann::json{{"verify", "sample"}}, nlohmann::json{{"repetition_penalty", 1.2}}}) {
    const Run run(find_method("prompt_lookup"), true, given);
    for (const int best : run.far_model.asked) CHECK(best == 0);
    CHECK(run.far_model.whole_rows == 0);
  }
  const Run run(find_method("draft_model"), true, {{"verify", "sample"}});
  for (const int best : run.far_draft.asked) CHECK(best == 0);
}

TEST_CASE("rows on a device: what drafts looks at its best tokens alone") {
  for (const char* const name : {"draft_model", "eagle", "eagle2"}) {
    CAPTURE(name);
    const Run run(find_method(name), true, {});
    const RowsOnDevice& drafts =
        run.head ? dynamic_cast<const RowsOnDevice&>(*run.head->layers) : run.far_draft;
    CHECK(drafts.asked.size() > 10);
    for (const int best : drafts.asked) CHECK(best == 16);
    CHECK(drafts.whole_rows == 0);
    CHECK(drafts.single_logits == 0);
  }
}

TEST_CASE("path only: a run whose forwards are too large for it says so, once it has been one") {
  const auto warning = [](const char* method, nlohmann::json settings, int path_only_rows) {
    FakeOptions options = fake_options(1);
    options.path_only_rows = path_only_rows;
    Rig rig(options);
    Session& session = rig.start(method, std::move(settings), kPrompt, 20);
    session.step();
    CHECK(session.result().warning.empty());  // however long the prompt is
    session.run();
    return session.result().warning;
  };
  CHECK(warning("greedy", {}, 1).empty());
  CHECK(warning("beam", {{"num_beams", 4}}, 4).empty());
  CHECK(warning("beam", {{"num_beams", 5}}, 0).empty());  // in any forward
  const std::string beams = warning("beam", {{"num_beams", 5}}, 4);
  CHECK(beams ==
        "a forward had 5 rows: on cpu logits are the same to the last bit only in forwards of up "
        "to 4 rows, so drafts and beams may change the text where two tokens are nearly equal");
  CHECK(warning("prompt_lookup", {}, 1).starts_with("a forward had "));
}

}  // namespace
}  // namespace triescope::test::test_rows_on_device

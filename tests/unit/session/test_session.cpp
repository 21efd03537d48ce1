// The step and the session: phases, stopping, branches, caps, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <new>

#include "core/base/error.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_session {
namespace {

using capture::Phase;

std::vector<std::int32_t> greedy_by_hand(const FakeModel& model, std::vector<std::int32_t> text,
                                         int count, std::int32_t eos = 0) {
  std::vector<std::int32_t> out;
  while (static_cast<int>(out.size()) < count) {
    const auto logits = model.logits_of(text);
    out.push_back(
        static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    text.push_back(out.back());
    if (out.back() == eos) break;
  }
  return out;
}

std::string refusal(const std::function<void()>& action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "(accepted)";
}

TEST_CASE("session: advance goes through the five phases in order, step goes to the next draft") {
  Rig rig({.eos_boost = -9});
  Session& session = rig.start("beam", {}, {5, 6}, 6);
  for (std::int32_t step = 0; step < 2; ++step)
    for (const Phase phase :
         {Phase::kDraft, Phase::kForward, Phase::kAccept, Phase::kCommit, Phase::kObserve}) {
      CHECK(session.next_tick() == capture::make_tick(step, phase));
      CHECK(session.advance() == phase);
    }
  session.step();
  CHECK(session.next_tick() == capture::make_tick(3, Phase::kDraft));
  session.advance();
  session.step();  // from the middle of a step: to its end
  CHECK(session.next_tick() == capture::make_tick(4, Phase::kDraft));
  session.run();
  CHECK(session.done());
  CHECK_THROWS_AS(session.advance(), Error);
  session.step();  // nothing left: nothing happens
  CHECK(session.result().steps == 6);
}

TEST_CASE(
    "session: an end token that only the tokenizer has ends nothing; one that is asked for is refused") {
  Rig rig({.vocab_size = 32, .eos_token_ids = {}});
  rig.tokenizer = FakeTokenizer(40, {3, 35});
  CHECK(rig.start("greedy", {}).context().eos_token_ids == std::vector<std::int32_t>{3});
  CHECK(refusal(
            [&] {
              rig.start("greedy", {{"eos_token_id", {35}}});
            },
            ErrorCode::kInvalidArgument)
            .starts_with("eos_token_id: expected token ids from 0 to 31"));
}

TEST_CASE("session: greedy takes the best token until EOS or the cap") {
  bool eos = false, cap = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed});
    rig.start("greedy", {}, {5, 6, 7}, 20).run();
    const RunResult result = rig.session->result();
    REQUIRE(result.sequences.size() == 1);
    CHECK(result.sequences[0].tokens == greedy_by_hand(rig.model, {5, 6, 7}, 20));
    CHECK(std::isnan(result.sequences[0].score));
    (result.sequences[0].finish == "eos" ? eos : cap) = true;
    CHECK(result.emitted_tokens == static_cast<std::int64_t>(result.sequences[0].tokens.size()));
    CHECK(result.tokens_per_forward == 1.0);
  }
  CHECK(eos);
  CHECK(cap);
}

TEST_CASE("session: text leaves special tokens out, tokens keep them") {
  Rig rig({.eos_boost = 30});
  rig.start("greedy", {}).run();
  const RunResult result = rig.session->result();
  CHECK(result.sequences[0].tokens == std::vector<std::int32_t>{0});
  CHECK(result.sequences[0].text.empty());
  CHECK(result.sequences[0].finish == "eos");
}

TEST_CASE("session: eos_token_id -1 means none, a list means any of them") {
  Rig rig({.eos_boost = 30});
  rig.start("greedy", {{"eos_token_id", -1}}, {5}, 4).run();
  CHECK(rig.session->result().sequences[0].tokens == std::vector<std::int32_t>{0, 0, 0, 0});
  Rig other({.eos_token_ids = {}, .chain = {5, 9, 8, 7}});
  other.start("greedy", {{"eos_token_id", "7,8"}}, {5}, 10).run();
  CHECK(other.session->result().sequences[0].tokens == std::vector<std::int32_t>{9, 8});
}

TEST_CASE("session: a prompt of one token decodes; prefill runs in chunks over a long one") {
  for (const std::size_t length : {1u, 255u, 256u, 257u, 700u}) {
    CAPTURE(length);
    Rig rig({.eos_boost = -9});
    std::vector<std::int32_t> prompt;
    for (std::size_t i = 0; i < length; ++i)
      prompt.push_back(static_cast<std::int32_t>(1 + i % 31));
    std::vector<double> done;
    Session& session = rig.start("greedy", {}, prompt, 3);
    session.set_progress([&](const std::string& what, double now, double total) {
      CHECK(what == "prefill");
      CHECK(total == static_cast<double>(length));
      done.push_back(now);
    });
    session.run();
    CHECK(session.result().sequences[0].tokens == greedy_by_hand(rig.model, prompt, 3));
    CHECK(done.size() == (length + 255) / 256);
    CHECK(done.back() == static_cast<double>(length));
    CHECK(session.result().target_forwards == 3);
  }
}

TEST_CASE("session: bad input is refused before anything runs") {
  Rig rig({.context = 20});
  const auto start = [&](const char* method, nlohmann::json settings,
                         std::vector<std::int32_t> prompt, int cap) {
    return [&rig, method, settings, prompt, cap] { rig.start(method, settings, prompt, cap); };
  };
  using E = ErrorCode;
  CHECK(refusal(start("beam", {}, {}, 4), E::kInvalidArgument)
            .starts_with("prompt: expected at least one token"));
  CHECK(refusal(start("beam", {}, {1, 2}, 0), E::kInvalidArgument) ==
        "max_new_tokens: expected at least 1; found 0");
  CHECK(refusal(start("beam", {}, {1, 2}, 19), E::kInvalidArgument)
            .starts_with("prompt: expected prompt + max_new_tokens to fit the model's context of "
                         "20 tokens; found 2 + 19"));
  CHECK(refusal(start("beam", {}, {1, 99}, 4), E::kInvalidArgument)
            .starts_with("prompt: expected token ids from 0 to 31 (the model's vocabulary); found "
                         "99 at index 1"));
  CHECK(refusal(start("beam", {{"eos_token_id", 77}}, {1}, 4), E::kInvalidArgument)
            .starts_with("eos_token_id: expected"));
  CHECK(refusal(start("bean", {}, {1}, 4), E::kInvalidArgument)
            .starts_with("method: expected one of"));
  CHECK(refusal(start("beam", {{"num_beams", 0}}, {1}, 4), E::kInvalidArgument)
            .starts_with("num_beams: expected"));
  CHECK(rig.model.forwards == 0);
  CHECK(rig.recorder.run_info.method.empty());
  rig.start("beam", {}, {1, 2}, 18).run();  // exactly fits
  CHECK(rig.session->done());
}

TEST_CASE("session: request_stop leaves the running forward within one layer") {
  Rig rig({.layers = 6});
  Session& session =
      rig.start("beam", {{"num_beams", 3}, {"num_return_sequences", 3}}, {5, 6, 7}, 20);
  for (int i = 0; i < 3; ++i) session.step();
  int layers = 0;
  rig.model.on_layer = [&](int layer) {
    ++layers;
    if (layer == 2) session.request_stop();
  };
  session.run();
  CHECK(layers == 3);
  CHECK(session.done());
  CHECK(rig.recorder.status == capture::RunStatus::kStopped);
  CHECK(rig.recorder.finishes == 1);
  const RunResult result = session.result();
  REQUIRE(result.sequences.size() == 3);
  for (const auto& sequence : result.sequences) {
    CHECK(sequence.finish == "stopped");
    CHECK(sequence.tokens.size() == 3);
  }
  CHECK(result.steps == 3);
}

TEST_CASE("session: a stop is heeded at every phase, and during prefill") {
  for (int phases = 0; phases < 11; ++phases) {
    CAPTURE(phases);
    Rig rig;
    Session& session = rig.start("greedy", {{"eos_token_id", -1}});
    for (int i = 0; i < phases; ++i) session.advance();
    session.request_stop();
    const auto before = rig.recorder.phases.size();
    session.run();
    CHECK(session.done());
    CHECK(rig.recorder.phases.size() == before);
    CHECK(rig.recorder.status == capture::RunStatus::kStopped);
    CHECK(rig.recorder.finishes == 1);
  }
  Rig rig;
  Session& session = rig.start("greedy", {}, std::vector<std::int32_t>(2000, 5), 5);
  session.set_progress([&](const std::string&, double, double) { session.request_stop(); });
  session.run();
  CHECK(rig.model.forwards == 1);
  CHECK(session.result().sequences.empty());
}

TEST_CASE(
    "session: an error in the forward ends the session as failed, and is told to the recorder") {
  Rig rig;
  Session& session = rig.start("beam", {});
  session.step();
  rig.model.on_layer = [](int) { throw Error(ErrorCode::kOutOfMemory, "no memory for 3 rows"); };
  CHECK_THROWS_WITH_AS(session.run(), "no memory for 3 rows", Error);
  CHECK(session.done());
  CHECK(rig.recorder.status == capture::RunStatus::kFailed);
  CHECK(rig.recorder.status_message == "no memory for 3 rows");
  CHECK(session.result().steps == 1);
}

TEST_CASE("session: memory that runs out says where and what needs less; what was decoded stays") {
  Rig rig({.eos_boost = -9});
  Session& session = rig.start("beam", {{"num_beams", 4}});
  session.step();
  session.step();
  rig.model.on_layer = [](int) { throw std::bad_alloc(); };
  CHECK(refusal([&] { session.run(); }, ErrorCode::kOutOfMemory) ==
        "host memory ran out in the forward phase of step 2; fewer beams or a shorter prompt need "
        "less");
  CHECK(session.done());
  CHECK(rig.recorder.status == capture::RunStatus::kFailed);
  CHECK(rig.recorder.finishes == 1);
  CHECK(session.result().steps == 2);
  CHECK(session.tree().size() > 4);
}

TEST_CASE("session: logits that are not numbers are an error, not a text") {
  class NanModel final : public Model {
   public:
    explicit NanModel(FakeModel& inner) : inner_(inner) {}
    const ModelInfo& info() const override { return inner_.info(); }
    std::unique_ptr<KvStorage> make_kv(int capacity) override { return inner_.make_kv(capacity); }
    ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
      const ForwardOutput out = inner_.forward(batch, kv, stop);
      row_.assign(out.logits.begin(), out.logits.end());
      row_[3] = std::nanf("");
      return {.logits = row_, .features = {}, .vocab_size = out.vocab_size};
    }
    FakeModel& inner_;
    std::vector<float> row_;
  };
  Rig rig;
  NanModel model(rig.model);
  RunConfig config;
  config.prompt_tokens = {5};
  Session session(model, rig.tokenizer, config, rig.recorder);
  CHECK(refusal([&] { session.run(); }, ErrorCode::kCorruption)
            .starts_with("accept: expected finite logits"));
}

TEST_CASE("session: an EOS inside an accepted draft ends the text there") {
  // The model wants 9 8 7 0 5 6 after 9; the prompt has that text once, EOS in the middle.
  const std::vector<std::int32_t> prompt = {9, 8, 7, 0, 5, 6, 11, 9};
  FakeOptions options{.chain = {9, 8, 7, 0, 5, 6}};
  for (const char* method : {"prompt_lookup", "ngram_trie"}) {
    CAPTURE(method);
    Rig rig(options);
    rig.start(method, nlohmann::json::object(), prompt, 20).run();
    const RunResult result = rig.session->result();
    CHECK(result.sequences[0].tokens == std::vector<std::int32_t>{8, 7, 0});
    CHECK(result.sequences[0].finish == "eos");
    CHECK(result.emitted_tokens == 3);
  }
}

TEST_CASE("session: a cap inside an accepted run is kept") {
  const std::vector<std::int32_t> prompt = {9, 8, 7, 6, 5, 4, 3, 2, 11, 9};
  for (int cap = 1; cap <= 8; ++cap) {
    CAPTURE(cap);
    for (const char* method : {"prompt_lookup", "ngram_trie"}) {
      CAPTURE(method);
      Rig rig({.chain = {9, 8, 7, 6, 5, 4, 3, 2, 1}});
      rig.start(method, nlohmann::json::object(), prompt, cap).run();
      const RunResult result = rig.session->result();
      CHECK(static_cast<int>(result.sequences[0].tokens.size()) == cap);
      CHECK(result.sequences[0].tokens == greedy_by_hand(rig.model, prompt, cap));
      CHECK(result.sequences[0].finish == "length");
      if (cap == 8) CHECK(result.tokens_per_forward > 2);
    }
  }
}

TEST_CASE("session: drafts may not run past the model's context") {
  Rig rig({.context = 16, .chain = {9, 8, 7, 6, 5, 4, 3, 2, 1}});
  rig.start("prompt_lookup", {}, {9, 8, 7, 6, 5, 4, 3, 2, 11, 9}, 6).run();
  for (const auto& row : rig.recorder.input_rows) CHECK(row.position < 16);
  CHECK(rig.session->result().sequences[0].tokens.size() == 6);
}

TEST_CASE("session: a branch decodes on from another choice as if it had been the text") {
  for (const char* method : {"greedy", "beam", "batch_beam", "prompt_lookup"}) {
    CAPTURE(method);
    Rig rig({.eos_boost = -9});
    nlohmann::json settings = nlohmann::json::object();
    if (std::string(method).find("beam") != std::string::npos) settings["num_beams"] = 1;
    Session& session = rig.start(method, settings, {5, 6, 7, 5, 6}, 12);
    session.run();
    const auto text = session.result().sequences[0].tokens;
    // The node of the third token of the text (its KV is freed by now).
    const std::vector<std::int32_t> first_three(text.begin(), text.begin() + 3);
    NodeId node;
    for (std::int32_t i = 1; i < session.tree().size(); ++i) {
      std::vector<std::int32_t> tokens;
      for (const TokenId token : session.tree().tokens_to(NodeId(i))) tokens.push_back(token.value);
      if (tokens == first_three) node = NodeId(i);
    }
    REQUIRE(node.valid());
    MemoryRecorder recorder;
    auto branch = Session::branch(session, node, 17, recorder);
    branch->run();
    std::vector<std::int32_t> expected;
    for (const TokenId token : session.tree().tokens_to(node)) expected.push_back(token.value);
    expected.push_back(17);
    std::vector<std::int32_t> so_far = {5, 6, 7, 5, 6};
    so_far.insert(so_far.end(), expected.begin(), expected.end());
    for (const auto token : greedy_by_hand(rig.model, so_far, 8)) expected.push_back(token);
    CHECK(branch->result().sequences[0].tokens == expected);
    // Its forced token has the model's own log-prob, learned in the one forward of prefill.
    CHECK(branch->result().target_forwards <= 9);
    bool forced = false;
    for (const auto& row : recorder.node_rows)
      forced = forced || row.source == capture::Source::kForced;
    CHECK(forced);
    // Everything on the way has a verdict: what a panel draws as part of the text.
    for (std::int32_t i = 1; i <= 4; ++i)
      CHECK(std::ranges::any_of(recorder.verdict_rows, [&](const auto& row) {
        return row.node == i && row.verdict == capture::Verdict::kEmitted;
      }));
    REQUIRE(recorder.score_rows.size() >= 1);
    CHECK(recorder.score_rows[0].logprob < 0);
  }
}

TEST_CASE("session: a branch of a beam search spreads out from the choice") {
  Rig rig({.eos_boost = -9});
  Session& session =
      rig.start("beam", {{"num_beams", 4}, {"num_return_sequences", 4}}, {5, 6, 7}, 10);
  session.run();
  Rig conventional({.eos_boost = -9});
  conventional.start("batch_beam", {{"num_beams", 4}, {"num_return_sequences", 4}}, {5, 6, 7}, 10)
      .run();
  for (const Session* from : {&session, conventional.session.get()}) {
    MemoryRecorder recorder;
    auto branch = Session::branch(*from, NodeId(1), 17, recorder);
    branch->run();
    const RunResult result = branch->result();
    CHECK(result.sequences.size() == 4);
    const auto first = session.tree()[NodeId(1)].token.value;
    for (const auto& sequence : result.sequences) {
      CHECK(sequence.tokens[0] == first);
      CHECK(sequence.tokens[1] == 17);
      CHECK(sequence.tokens.size() == 10);
    }
  }
}

TEST_CASE("session: a branch that cannot go on is refused") {
  Rig rig({.eos_boost = -9});
  Session& session = rig.start("greedy", {}, {5, 6, 7}, 4);
  session.run();
  MemoryRecorder recorder;
  using E = ErrorCode;
  CHECK(refusal([&] { Session::branch(session, NodeId(99), 3, recorder); }, E::kInvalidArgument)
            .starts_with("branch: expected a node from 0 to"));
  CHECK(refusal([&] { Session::branch(session, NodeId(1), 99, recorder); }, E::kInvalidArgument)
            .starts_with("branch: expected token ids"));
  CHECK(refusal([&] { Session::branch(session, NodeId(1), 0, recorder); }, E::kInvalidArgument)
            .starts_with("branch: expected a token to decode on from"));
  CHECK(refusal([&] { Session::branch(session, NodeId(4), 3, recorder); }, E::kInvalidArgument)
            .starts_with("branch: expected a choice before the last of 4 new tokens"));
}

TEST_CASE("session: same seed and settings, same run") {
  const auto run = [](std::uint64_t seed) {
    Rig rig({.spread = 1});
    rig.start("sample", {{"temperature", 1.5}}, {5, 6, 7}, 20, seed).run();
    return tokens_of(rig.session->result());
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

}  // namespace
}  // namespace triescope::test::test_session

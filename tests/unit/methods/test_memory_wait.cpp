// A run that is refused memory again and again, by the target, by what drafts and by the recorder, and
// waits for it:
// what it decodes and records is what it would have been. Every method of the registry, every KV policy,
// rows of logits on the host and on a device.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "core/methods/registry.h"
#include "tests/support/fake_head.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/refusal.h"
#include "tests/support/rows_on_device.h"
#include "tests/support/session_run.h"
#include "tests/support/short_of_memory.h"

namespace triescope::test::test_memory_wait {
namespace {

using Tokens = std::vector<std::int32_t>;

const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

FakeOptions fake_options(std::uint64_t seed, int kv_valid_until = 0) {
  return {.vocab_size = 14,
          .seed = seed,
          .kv_valid_until = kv_valid_until,
          .eos_boost = -9,
          .chain = {5, 6, 7, 8, 9, 5}};
}

// A run over models and heads that are refused memory as `refusals` says.
struct ShortRun {
  ShortRun(const MethodInfo& method, KvPolicyKind kv, std::uint64_t seed, int most_refusals,
           int kv_valid_until = 0, bool on_device = false, bool recorder_too = false)
      : refusals(seed, most_refusals),
        on_host(fake_options(1, kv_valid_until)),
        draft_on_host(fake_options(5)),
        model(of(on_host, on_device), refusals.ask()),
        draft(of(draft_on_host, on_device), refusals.ask()) {
    RunConfig config;
    config.method = method.name;
    config.prompt_tokens = kPrompt;
    config.max_new_tokens = 60;
    config.settings["kv"] = to_string(kv);
    if (kv == KvPolicyKind::kCompact) config.settings["gc_every"] = 3;
    if (on_device) config.settings["candidates"] = 1;  // more than the best tokens must be fetched
    if (method.needs == Need::kDraftModel) config.draft = {&draft, &tokenizer, nullptr};
    if (method.needs == Need::kDraftHead) {
      head = fake_head(method.heads.front(), 14, 4096, 5, fake_options(5).chain);
      if (head->layers)
        head->layers = std::make_unique<ShortModel>(std::move(head->layers), refusals.ask());
      if (head->tokens)
        head->tokens = std::make_unique<ShortHeads>(std::move(head->tokens), refusals.ask());
      config.draft = {nullptr, nullptr, head.get()};
    }
    session = std::make_unique<Session>(
        model, tokenizer, std::move(config),
        recorder_too ? static_cast<capture::Recorder&>(short_recorder) : recorder);
  }

  static std::unique_ptr<Model> of(FakeModel& fake, bool on_device) {
    if (on_device) return std::make_unique<RowsOnDevice>(fake);
    return std::make_unique<FakeModel>(fake);
  }

  Refusals refusals;
  FakeModel on_host, draft_on_host;
  ShortModel model, draft;
  FakeTokenizer tokenizer{14};
  MemoryRecorder recorder;
  ShortRecorder short_recorder{recorder, refusals.ask()};
  std::unique_ptr<DraftHead> head;
  std::unique_ptr<Session> session;
};

void check_same(const ShortRun& waited, const ShortRun& plain) {
  CHECK(tokens_of(waited.session->result()) == tokens_of(plain.session->result()));
  const auto same = [](const auto& rows, const auto& expected, auto... members) {
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!((rows[i].*members == expected[i].*members) && ...)) FAIL("row " << i << " differs");
  };
  using namespace capture;
  same(waited.recorder.node_rows, plain.recorder.node_rows, &NodeRow::parent, &NodeRow::token,
       &NodeRow::source, &NodeRow::tick);
  same(waited.recorder.verdict_rows, plain.recorder.verdict_rows, &VerdictRow::tick,
       &VerdictRow::node, &VerdictRow::verdict);
  same(waited.recorder.slot_rows, plain.recorder.slot_rows, &SlotRow::tick, &SlotRow::action,
       &SlotRow::slot, &SlotRow::node, &SlotRow::from_slot, &SlotRow::whose);
  same(waited.recorder.input_rows, plain.recorder.input_rows, &InputRow::step, &InputRow::node,
       &InputRow::position, &InputRow::slot, &InputRow::whose);
  same(waited.recorder.memory_rows, plain.recorder.memory_rows, &MemoryRow::live,
       &MemoryRow::garbage, &MemoryRow::moved_bytes);
}

TEST_CASE("memory wait: every method goes on as if memory had never been refused") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    for (const KvPolicyKind kv : method.kv_policies) {
      CAPTURE(to_string(kv));
      for (const auto& [kv_valid_until, on_device] :
           {std::pair{0, false}, {30, false}, {0, true}}) {
        ShortRun plain(method, kv, 1, /*most_refusals=*/0, kv_valid_until, on_device);
        plain.session->run();
        REQUIRE(plain.recorder.status == capture::RunStatus::kDone);
        ShortRun waited(method, kv, 2, 1 << 30, kv_valid_until, on_device, true);
        int asked = 0;
        waited.session->wait_for_memory([&](const Error& refused) {
          CHECK(refused.code() == ErrorCode::kOutOfMemory);
          CHECK(std::string(refused.what()).starts_with("no memory to "));
          CHECK_FALSE(waited.session->done());
          ++asked;
          return true;
        });
        waited.session->run();
        CHECK(waited.recorder.status == capture::RunStatus::kDone);
        CHECK(asked == waited.refusals.refused);
        CHECK(asked > 20);
        check_same(waited, plain);
      }
    }
  }
}

// The rank of a refused draft needs its whole row.
TEST_CASE("memory wait: a row that is fetched waits too") {
  ShortRun run(find_method("draft_model"), KvPolicyKind::kRecycle, 4, 1 << 30, 0, true);
  std::vector<std::string> refused_for;
  run.session->wait_for_memory([&](const Error& refused) {
    refused_for.emplace_back(refused.what());
    return true;
  });
  run.session->run();
  CHECK(run.recorder.status == capture::RunStatus::kDone);
  CHECK(std::ranges::count(refused_for, "no memory to fetch") > 0);
}

TEST_CASE("memory wait: a phase's time is without the wait") {
  ShortRun run(find_method("greedy"), KvPolicyKind::kRecycle, 2, 1);
  using Clock = std::chrono::steady_clock;
  const auto us = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  };
  Clock::duration waited{};
  run.session->wait_for_memory([&](const Error&) {
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    waited = Clock::now() - start;
    return true;
  });
  while (waited == Clock::duration{}) {
    const auto start = Clock::now();
    run.session->advance();
    if (waited == Clock::duration{}) continue;
    CHECK(run.recorder.phases.back().duration_us + us(waited) <= us(Clock::now() - start) + 1);
  }
}

TEST_CASE("memory wait: who does not wait ends the run, with what was recorded") {
  for (const char* const name : {"beam", "draft_model"}) {
    CAPTURE(name);
    for (int number = 0; number < 12; ++number) {
      ShortRun run(find_method(name), KvPolicyKind::kRecycle, 3, 1 << 30);
      int asked = 0;
      run.session->wait_for_memory([&](const Error&) { return asked++ < number; });
      const std::string why = refusal(ErrorCode::kOutOfMemory, [&] { run.session->run(); });
      CHECK(why.starts_with("no memory to "));
      CHECK(asked == number + 1);
      CHECK(run.session->done());
      CHECK(run.recorder.status == capture::RunStatus::kFailed);
      CHECK(run.recorder.status_message == why);
    }
  }
}

TEST_CASE("memory wait: a stop while it waits ends the run as stopped") {
  ShortRun run(find_method("beam"), KvPolicyKind::kRecycle, 3, 1 << 30);
  run.session->wait_for_memory(
      [](const Error&) -> bool { throw Error(ErrorCode::kCancelled, "stopped"); });
  run.session->run();
  CHECK(run.recorder.status == capture::RunStatus::kStopped);
  CHECK(run.refusals.refused == 1);
}

TEST_CASE("memory wait: a run that is stopped while recording waits does not wait once more") {
  ShortRun run(find_method("greedy"), KvPolicyKind::kRecycle, 3, 0);
  bool full = false;
  ShortRecorder recorder(run.recorder, [&](const std::string& what) {
    if (full) refuse_memory(what);
  });
  RunConfig config;
  config.method = "greedy";
  config.prompt_tokens = kPrompt;
  config.max_new_tokens = 20;
  Session session(run.model, run.tokenizer, std::move(config), recorder);
  int asked = 0;
  session.wait_for_memory([&](const Error& refused) -> bool {
    CHECK(std::string(refused.what()) == "no memory to record");
    if (++asked < 4) return true;
    throw Error(ErrorCode::kCancelled, "stopped");
  });
  session.step();
  CHECK(asked == 0);
  full = true;
  session.run();
  CHECK(asked == 4);
  CHECK(session.done());
}

TEST_CASE("memory wait: host memory counts, other errors do not") {
  const auto attempt = [](auto thrown) {
    int asked = 0;
    const auto wait = [&](const Error& refused) {
      CHECK(std::string(refused.what()) == "host memory ran out");
      return ++asked < 3;
    };
    int tried = 0;
    CHECK_THROWS(with_memory(wait, [&] {
      ++tried;
      throw thrown;
    }));
    CHECK(tried == std::max(1, asked));
    return asked;
  };
  CHECK(attempt(std::bad_alloc()) == 3);
  CHECK(attempt(Error(ErrorCode::kCuda, "lost")) == 0);
  CHECK(attempt(std::runtime_error("other")) == 0);
  CHECK(with_memory({}, [] { return 7; }) == 7);
}

}  // namespace
}  // namespace triescope::test::test_memory_wait

// Every verb of a window over a line: what the far host is told, with its arguments.
#include <doctest/doctest.h>

#include <atomic>
#include <fstream>

#include "app/remote/messages.h"
#include "tests/support/refusal.h"
#include "tests/support/short_of_memory.h"
#include "tests/support/table_dump.h"
#include "tests/unit/app/noting_host.h"
#include "tests/unit/app/remote_rig.h"

namespace triescope::app::test_remote_verbs {
namespace {

using test::has;

// A rig whose decoder writes down what it is told.
struct Verbs {
  explicit Verbs(bool takes_commands = true) {
    rig.decoder = [this, takes_commands](auto) {
      auto host = std::make_unique<NotingHost>();
      host->takes_commands = takes_commands;
      far = host.get();
      return host;
    };
    rig.serve("verbs");
    rig.connect();
  }
  RemoteHost& host() { return *rig.host; }
  // What the far host was told, once that many commands have arrived.
  std::vector<std::string> told(std::size_t count) {
    REQUIRE(wait_until([&] { return far->told().size() >= count; }));
    return far->told();
  }

  RemoteRig rig;
  NotingHost* far = nullptr;
};

TEST_CASE("remote verbs: each arrives as the window gave it, in order") {
  Verbs verbs;
  RemoteHost& host = verbs.host();
  RunRequest request = tiny_request(verbs.rig.model);
  request.chat = true;
  request.system = "be brief";
  request.turns = {{"user", "a"}, {"assistant", "b"}};
  request.tools = "[]";
  request.chat_template = "{{ messages }}";
  request.seed = 7;
  host.load(verbs.rig.model, "cuda:1", DType::kBF16, DType::kF16);
  host.set_breakpoints({{BreakKind::kWhere, 0, true, "accepted < 2"},
                        {BreakKind::kEntropyAbove, 1.5, false, ""},
                        {BreakKind::kPattern, 0, true, "^a"}});
  host.start(request, verbs.rig.here("a.tscap"), /*run_at_once=*/true);
  host.step();
  host.step_phase();
  host.run();
  host.run_to(12);
  host.pause();
  host.try_again();
  host.branch(3, 9, verbs.rig.here("b.tscap"));
  host.cancel();
  host.measure(request, verbs.rig.here("c.tscap"), {.level = capture::Level::kTree, .threads = 2});
  host.stop();
  const std::string asked = json_of(request).dump();
  const std::vector<std::string> expected = {
      "load " + verbs.rig.model + " cuda:1 bf16 f16",
      "breakpoints; " + describe({BreakKind::kWhere, 0, true, "accepted < 2"}) + "; " +
          describe({BreakKind::kEntropyAbove, 1.5, false, ""}) + " off; " +
          describe({BreakKind::kPattern, 0, true, "^a"}),
      "start " + asked + " at once",
      "step",
      "phase",
      "run",
      "run to 12",
      "pause",
      "try again",
      "branch 3 9",
      "cancel",
      "measure " + asked + " tree 2",
      "stop"};
  const auto told = verbs.told(expected.size());
  REQUIRE(told.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(told[i] == expected[i]);
}

TEST_CASE("remote verbs: devices, drafts and prompts are those of the other machine") {
  Verbs verbs;
  verbs.far->counts = [&](const RunRequest& request) -> PromptCount {
    CHECK(request.model == verbs.rig.model);
    return {.tokens = 5, .problem = "too long", .model = "far", .context = 9};
  };
  RemoteHost& host = verbs.host();
  CHECK(host.devices().at(0).id == "cuda:3");
  CHECK(host.devices().at(0).total_bytes == 7);
  CHECK(host.drafts_by_default(tiny_request(verbs.rig.model)) == "head");
  const PromptCount count = host.count_prompt(tiny_request(verbs.rig.model));
  CHECK(count.tokens == 5);
  CHECK(count.problem == "too long");
  CHECK(count.model == "far");
  CHECK(count.context == 9);
  CHECK_FALSE(count.unread);
  CHECK(has(test::refusal(ErrorCode::kInvalidArgument,
                          [&] { host.count_prompt(tiny_request("/etc/passwd")); }),
            "is not a file in the folders"));
}

TEST_CASE(
    "remote verbs: a limited number of commands wait for the decoder, but for those that end them") {
  Verbs verbs(/*takes_commands=*/false);
  for (int i = 0; i < 1024; ++i) verbs.host().step();
  CHECK(verbs.told(1024).size() == 1024);
  CHECK(verbs.host().status()->notices.empty());
  verbs.host().step();
  REQUIRE(wait_until([&] { return has(last_notice(verbs.host()), "1024 commands wait"); }));
  CHECK(verbs.far->told().size() == 1024);
  verbs.host().pause();
  verbs.host().stop();
  verbs.host().cancel();
  const auto told = verbs.told(1027);
  CHECK(told.back() == "cancel");
}

TEST_CASE("remote verbs: a prompt is counted there before its model is loaded") {
  RemoteRig rig;
  write_tiny_model(rig.folder.path() / "models", "words", {.tokenizer = true});
  RemoteHost& host = rig.connect();
  RunRequest request = tiny_request((rig.folder.path() / "models/words.gguf").string());
  request.prompt_ids.clear();
  request.prompt = "ABBA";
  const PromptCount before = host.count_prompt(request);
  CHECK(before.tokens ==
        static_cast<std::int64_t>(load_tokenizer(request.model)->encode("ABBA", true).size()));
  CHECK(before.context == 256);
  host.load(request.model, "cpu", DType::kF32, {});
  settle(host);
  CHECK(host.count_prompt(request).tokens == before.tokens);
  // A prompt of token ids needs no tokenizer that splits texts.
  request.model = rig.model;
  request.prompt = "1, 2, 3";
  CHECK(host.count_prompt(request).tokens == 3);
}

// A far decoder whose models load by this.
void serve_with(RemoteRig& rig, const ModelLoader& loader) {
  rig.decoder = [loader](auto wake) {
    return std::make_unique<SessionThread>(std::move(wake), loader);
  };
  rig.serve("loader");
}

TEST_CASE("remote verbs: loading shows its progress and is cancelled") {
  RemoteRig rig;
  std::atomic<bool> stalls{true};
  serve_with(rig, [&](const std::string& path, const LoadOptions& options,
                      const ProgressSink& progress, std::stop_token stop) {
    while (stalls) {
      progress("reading weights", 3, 7);
      if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "loading was cancelled");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return load_model(path, options, progress, std::move(stop));
  });
  RemoteHost& host = rig.connect();
  host.load(rig.model, "cpu", DType::kF32, {});
  host.step();  // waits behind it, and is dropped with it
  REQUIRE(wait_until([&] { return host.status()->progress == "reading weights"; }));
  CHECK(host.status()->state == LiveState::kLoading);
  CHECK(host.status()->progress_done == 3);
  CHECK(host.status()->progress_total == 7);
  host.cancel();
  settle(host);
  CHECK(last_notice(host) == "loading was cancelled");
  CHECK_FALSE(host.status()->model);
  CHECK(host.status()->progress.empty());
  stalls = false;
  host.load(rig.model, "cpu", DType::kF32, {});
  settle(host);
  CHECK(host.status()->model);
}

TEST_CASE("remote verbs: a run that is refused memory waits there, and goes on when asked again") {
  RemoteRig rig;
  std::atomic<int> refusals{0};
  serve_with(rig,
             [&](const std::string& path, const LoadOptions& options, const ProgressSink& progress,
                 std::stop_token stop) -> std::unique_ptr<Model> {
               return std::make_unique<test::ShortModel>(
                   load_model(path, options, progress, std::move(stop)),
                   [&](const std::string& what) {
                     if (what != "begin" || refusals == 0) return;
                     --refusals;
                     test::refuse_memory(what);
                   });
             });
  RemoteHost& host = rig.connect();
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/false);
  host.step();
  settle(host);
  refusals = 2;
  for (int time = 0; time < 2; ++time) {
    time == 0 ? host.step() : host.try_again();
    settle(host);
    CHECK(host.status()->state == LiveState::kPaused);
    CHECK(host.status()->memory_refused == "no memory to begin");
    CHECK(host.status()->pause_reason == "out of memory");
  }
  host.run();
  settle(host);
  CHECK(host.status()->state == LiveState::kDone);
  CHECK(host.status()->memory_refused.empty());
  test::check_same_tables(rig.there(1), rig.here("a.tscap"));
}

TEST_CASE("remote verbs: a run that cannot be written here says why, and comes once it can") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  std::ofstream(rig.here("a.tscap")) << "somebody's notes";
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/true);
  for (int time = 0; time < 2; ++time) {
    REQUIRE(wait_until([&] { return has(host.line().lost, "is not a capture"); }));
    if (time == 1) std::filesystem::remove(rig.here("a.tscap"));
    host.reconnect();
    REQUIRE(wait_until([&] { return host.line().lost.empty(); }));
  }
  settle(host);
  REQUIRE(host.status()->state == LiveState::kDone);
  CHECK(host.status()->capture_path == rig.here("a.tscap"));
  test::check_same_tables(rig.there(1), rig.here("a.tscap"));
}

TEST_CASE("remote verbs: a condition on steps stops the run there") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  host.set_breakpoints({{BreakKind::kWhere, 0, true, "step >= 4"}});
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/true);
  settle(host);
  REQUIRE(host.status()->state == LiveState::kPaused);
  CHECK(has(host.status()->pause_reason, "step >= 4"));
  CHECK(capture::step_of(host.status()->next_tick) == 5);
  host.set_breakpoints({{BreakKind::kWhere, 0, true, "step >="}});
  settle(host);
  CHECK(has(last_notice(host), "column"));
}

}  // namespace
}  // namespace triescope::app::test_remote_verbs

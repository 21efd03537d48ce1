// A run that another machine decodes: the window's commands reach it, and its rows come here.
#include <doctest/doctest.h>

#include <fstream>
#include <future>

#include "app/remote/messages.h"
#include "core/base/rng.h"
#include "core/capture/capture.h"
#include "tests/support/refusal.h"
#include "tests/support/table_dump.h"
#include "tests/unit/app/remote_rig.h"

namespace triescope::app::test_remote_host {
namespace {

using test::check_same_tables;
using test::has;
using test::refusal;

capture::Tick draft_of(int step) { return capture::make_tick(step, capture::Phase::kDraft); }

TEST_CASE("remote run: it steps, runs and ends as a local one, with the same rows") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  const RunRequest request = tiny_request("tiny.gguf");
  RunRequest by_path = request;
  by_path.model = rig.model;

  host.load(rig.model, "cpu", DType::kF32, {});
  settle(host);
  REQUIRE(host.status()->model);
  CHECK(host.status()->model->path == rig.model);
  CHECK(host.status()->model->vocab_size == 48);
  REQUIRE(host.status()->tokenizer);
  CHECK(!host.status()->tokenizer->encodes_text());
  CHECK(host.status()->tokenizer->piece(5) == "<5>");

  host.start(by_path, rig.here("a.tscap"), /*run_at_once=*/false);
  settle(host);
  CHECK(host.status()->state == LiveState::kPaused);
  CHECK(host.status()->run_serial == 1);
  CHECK(host.status()->capture_path == rig.here("a.tscap"));
  const auto capture = capture::Capture::open(rig.here("a.tscap"));
  host.step_phase();
  settle(host);
  CHECK(host.status()->next_tick == 1);
  capture->poll();
  CHECK(capture->end_tick() == 1);
  host.step();
  settle(host);
  capture->poll();
  CHECK(capture->end_tick() == draft_of(1));  // a finished step can be read at once
  host.run_to(draft_of(4));
  settle(host);
  CHECK(host.status()->next_tick == draft_of(4));
  host.run();
  settle(host);
  CHECK(host.status()->state == LiveState::kDone);
  capture->poll();
  CHECK(capture->status() == capture::RunStatus::kDone);
  check_same_tables(rig.there(1), rig.here("a.tscap"));

  // The same run decoded here.
  SessionThread local([] {});
  local.start(by_path, rig.here("local.tscap"), /*run_at_once=*/true);
  settle(local);
  const std::vector<std::string> own = {"recorder", "created_utc", "start_us", "duration_us"};
  const auto expected = test::table_dump(rig.here("local.tscap"), own);
  const auto found = test::table_dump(rig.here("a.tscap"), own);
  for (const auto& [table, lines] : expected) {
    INFO("table " << table);
    CHECK((found.at(table) == lines));
  }
}

TEST_CASE("remote run: branches, breakpoints and stops reach it") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  host.set_breakpoints({{BreakKind::kPattern, 0, true, "("}});
  settle(host);
  CHECK(has(last_notice(host), "("));
  host.set_breakpoints({{BreakKind::kStep, 3, true, ""}});
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/true);
  settle(host);
  REQUIRE(host.status()->state == LiveState::kPaused);
  CHECK(host.status()->pause_serial == 1);
  CHECK(!host.status()->pause_reason.empty());
  CHECK(host.status()->next_tick == draft_of(4));

  host.branch(1, 7, rig.here("b.tscap"));
  settle(host);
  CHECK(host.status()->run_serial == 2);
  CHECK(host.status()->capture_path == rig.here("b.tscap"));
  // The run that was left has its end here too.
  check_same_tables(rig.there(1), rig.here("a.tscap"));
  CHECK(capture::Capture::open(rig.here("a.tscap"))->status() == capture::RunStatus::kStopped);
  host.step();
  settle(host);
  host.stop();
  settle(host);
  CHECK(host.status()->state == LiveState::kDone);
  check_same_tables(rig.there(2), rig.here("b.tscap"));

  host.measure(tiny_request(rig.model), rig.here("c.tscap"), {});
  settle(host);
  CHECK(host.status()->run_serial == 3);
  check_same_tables(rig.there(3), rig.here("c.tscap"));
}

TEST_CASE("remote run: questions are answered where the models are") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  CHECK(host.devices().at(0).id == "cpu");
  CHECK(host.model_path(rig.model) == rig.model);
  CHECK(host.report("info", {{"a", 1}}, std::chrono::seconds(5)) ==
        nlohmann::json{{"what", "info"}, {"about", {{"a", 1}}}});
  CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { host.model_path("/etc/passwd"); }),
            "is not a file in the folders"));

  write_tiny_model(rig.folder.path() / "models", "words", {.tokenizer = true});
  host.load((rig.folder.path() / "models/words.gguf").string(), "cpu", DType::kF32, {});
  settle(host);
  const auto tokenizer = host.status()->tokenizer;
  REQUIRE(tokenizer);
  const auto local = load_tokenizer((rig.folder.path() / "models/words.gguf").string());
  const std::vector<std::int32_t> ids = local->encode("ABBA", true);
  CHECK(tokenizer->encode("ABBA", true) == ids);
  CHECK(tokenizer->decode(ids, false) == local->decode(ids, false));
  CHECK(tokenizer->piece(ids.back()) == local->piece(ids.back()));
  CHECK(tokenizer->eos_token_ids() == local->eos_token_ids());
  refusal(ErrorCode::kInvalidArgument, [&] { tokenizer->piece(9999); });
  rig.host.reset();
  CHECK(refusal(ErrorCode::kIoError, [&] { tokenizer->encode("B", true); }) != "not refused");
}

TEST_CASE("remote run: files outside of the lent folders are refused, whether they exist or not") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  std::filesystem::copy_file(rig.model, rig.folder.path() / "outside.gguf");
  std::filesystem::create_symlink(rig.folder.path(), rig.folder.path() / "models/up");
  const std::string inside = (rig.folder.path() / "models").string();
  std::vector<std::string> refusals;
  for (const std::string& path :
       {(rig.folder.path() / "outside.gguf").string(), inside + "/../outside.gguf",
        (rig.folder.path() / "missing.gguf").string(), inside + "/up/outside.gguf"}) {
    host.load(path, "cpu", DType::kF32, {});
    host.start(tiny_request(path), rig.here("no.tscap"), true);
    settle(host);
    CHECK(has(last_notice(host), "is not a file in the folders"));
    CHECK(host.status()->run_serial == 0);
  }
  RunRequest request = tiny_request(rig.model);
  request.method = "suffix_decoding";
  request.settings = {{"past_answers", rig.there(1)}};
  host.start(request, rig.here("no.tscap"), true);
  settle(host);
  CHECK(has(last_notice(host), "is not a file in the folders"));
}

TEST_CASE("remote run: a run that nobody draws is recorded as far as it was asked for") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  SessionThread local([] {});
  int run = 0;
  for (const capture::Level level :
       {capture::Level::kSteps, capture::Level::kTree, capture::Level::kFull}) {
    const std::string name = to_string(level);
    host.measure(tiny_request(rig.model), rig.here(name), {.level = level, .threads = 1});
    local.measure(tiny_request(rig.model), rig.here(name + "-local"),
                  {.level = level, .threads = 1});
    settle(host), settle(local);
    check_same_tables(rig.there(++run), rig.here(name));
    const auto far = capture::Capture::open(rig.here(name)),
               near = capture::Capture::open(rig.here(name + "-local"));
    CHECK(far->status() == capture::RunStatus::kDone);
    CHECK(far->counts().nodes == near->counts().nodes);
    CHECK(far->counts().candidates == near->counts().candidates);
    CHECK((far->counts().nodes > 0) == (level >= capture::Level::kTree));
    CHECK((far->counts().candidates > 0) == (level == capture::Level::kFull));
  }
}

TEST_CASE("remote run: what a model and a run need there is told before they are loaded") {
  RemoteRig rig;
  write_tiny_model(rig.folder.path() / "models", "other", {.layers = 3});
  std::ofstream(rig.folder.path() / "models/broken.gguf") << "GGUF, but not for long";
  ::setenv("TRIESCOPE_MODELS", (rig.folder.path() / "models").c_str(), 1);
  RemoteHost& host = rig.connect();
  const SessionThread local([] {});
  const RunRequest request = tiny_request(rig.model);
  const RunMemory far = host.memory_of(request, 4), near = local.memory_of(request, 4);
  CHECK(far.to_load == near.to_load);
  CHECK(far.to_load > 0);
  CHECK(far.kv == near.kv);
  CHECK(far.free > 0);
  CHECK(far.problem.empty());
  host.load(rig.model, "cpu", DType::kF32, {});
  settle(host);
  CHECK(host.memory_of(request, 4).to_load == 0);

  const WhatFits fits = host.what_fits(request);
  ::unsetenv("TRIESCOPE_MODELS");
  const auto fit = [&](const std::string& name) {
    for (const ModelFit& one : fits.models)
      if (one.name == name) return one;
    return ModelFit{.name = "missing"};
  };
  CHECK(fit("tiny").need == near.to_load);
  CHECK(fit("tiny").path == rig.model);
  CHECK(fit("tiny").problem.empty());
  CHECK(fit("other").need > fit("tiny").need);
  CHECK(fit("broken").need == -1);
  CHECK(!fit("broken").problem.empty());
  // Nothing outside of the lent folders is told of.
  for (const ModelFit& one : fits.models)
    CHECK(one.path.starts_with((rig.folder.path() / "models").string()));
  CHECK(has(
      refusal(ErrorCode::kInvalidArgument, [&] { host.memory_of(tiny_request("/etc/passwd"), 4); }),
      "is not a file in the folders"));
  CHECK(host.memory_of(request, 1 << 30).kv > 0);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { host.memory_of(request, (1 << 30) + 1ll); }),
            "field 'prompt_tokens'"));
}

TEST_CASE("remote run: no command waits for a question, and a line asks so much and no more") {
  RemoteRig rig;
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  rig.during_report = [opened] { opened.wait(); };
  RemoteHost& host = rig.connect();
  std::thread asking([&] {
    try {
      host.report("check", {}, std::chrono::seconds(60));
    } catch (const Error&) {
      // The client below takes its line's place.
    }
  });
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/true);
  settle(host);
  CHECK(host.status()->state == LiveState::kDone);

  // A client that asks on while the first answer is made.
  const auto line = rig.dial(/*watch=*/false);
  std::string bytes =
      greeting_bytes(ClientGreeting{.protocol = kProtocol, .version = "1", .client = "eager"});
  for (std::uint64_t serial = 1; serial <= 200; ++serial)
    bytes += bytes_of(
        Ask{.serial = serial, .kind = AskKind::kQuestion, .question = "report x", .about = {}});
  line->write(bytes);
  FrameReader reader;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    rig.cut();
  });
  int answers = 0;
  while (const auto frame = next_frame(*line, reader))
    answers +=
        frame->kind == FrameKind::kMessage && read_told(frame->payload).kind == ToldKind::kAnswer;
  CHECK(answers <= 65);  // the line was ended
  later.join();
  host.keep();
  asking.join();
}

TEST_CASE("remote run: a line that is cut at fifty moments loses nothing") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  Rng rng(3);
  int lost = 0;
  for (int run = 1; run <= 10; ++run) {
    const std::string path = rig.here("run" + std::to_string(run) + ".tscap");
    RunRequest request = tiny_request(rig.model);
    request.max_new_tokens = 60;
    request.seed = static_cast<std::uint64_t>(run);
    host.start(request, path, /*run_at_once=*/run % 2 == 0);
    for (int cut = 0; cut < 5; ++cut) {
      if (run % 2 == 1) host.step();
      std::this_thread::sleep_for(
          std::chrono::microseconds(static_cast<std::int64_t>(rng.uniform() * 20'000)));
      rig.cut();
      REQUIRE(wait_until([&] { return !host.line().lost.empty(); }));
      ++lost;
      host.reconnect();
      REQUIRE(wait_until([&] { return host.line().lost.empty(); }));
    }
    host.run();
    settle(host);
    INFO("run " << run << ": " << last_notice(host));
    REQUIRE(host.status()->state == LiveState::kDone);
    CHECK(host.status()->capture_path == path);
    check_same_tables(rig.there(run), path);
    CHECK(capture::Capture::open(path)->status() == capture::RunStatus::kDone);
  }
  CHECK(lost == 50);
}

TEST_CASE("remote run: a decoder that was killed leaves what had arrived, and a new one begins") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/false);
  host.step();
  host.step();
  settle(host);
  rig.stop_serving();
  REQUIRE(wait_until([&] { return !host.line().lost.empty(); }));
  host.step();
  CHECK(has(last_notice(host), "not sent: the line to box is broken"));
  CHECK(has(refusal(ErrorCode::kIoError, [&] { host.model_path("tiny"); }), "is broken"));
  host.reconnect();
  REQUIRE(wait_until([&] { return has(host.line().lost, "nobody answers"); }));
  rig.serve("second");
  host.reconnect();
  REQUIRE(wait_until([&] { return host.line().lost.empty(); }));
  CHECK(has(last_notice(host), "ended while the line was broken"));
  const auto capture = capture::Capture::open(rig.here("a.tscap"));
  CHECK(capture->end_tick() == draft_of(2));
  CHECK(capture->status() == capture::RunStatus::kStopped);
  host.start(tiny_request(rig.model), rig.here("b.tscap"), /*run_at_once=*/true);
  settle(host);
  CHECK(host.status()->run_serial == 2);
  CHECK(host.status()->state == LiveState::kDone);
}

TEST_CASE("remote run: one whose window is gone goes on, and another window takes it up") {
  RemoteRig rig;
  RemoteHost& first = rig.connect();
  first.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/false);
  first.step();
  settle(first);
  first.run();
  REQUIRE(wait_until([&] { return first.status()->state != LiveState::kPaused; }));
  first.keep();
  rig.cut();
  rig.host.reset();
  RemoteHost& second = rig.connect();
  REQUIRE(wait_until([&] { return second.status()->run_serial == 1; }));
  settle(second);
  CHECK(second.status()->state == LiveState::kDone);
  check_same_tables(rig.there(1), second.status()->capture_path);
}

TEST_CASE("remote run: watchers see it grow and cannot touch it") {
  RemoteRig rig;
  RemoteHost& host = rig.connect();
  host.start(tiny_request(rig.model), rig.here("a.tscap"), /*run_at_once=*/false);
  host.step();
  settle(host);
  std::filesystem::create_directory(rig.folder.path() / "here2");
  const auto one = rig.make_host(/*watch=*/true), two = rig.make_host(/*watch=*/true);
  for (const auto* watcher : {&one, &two}) {
    (*watcher)->wait_connected();
    REQUIRE(wait_until([&] { return (*watcher)->status()->run_serial == 1; }));
    CHECK((*watcher)->line().watches);
    (*watcher)->stop();
    CHECK(has(last_notice(**watcher), "only watches"));
    CHECK((*watcher)->status()->state == LiveState::kPaused);
    CHECK((*watcher)->models().empty());
  }
  host.run();
  settle(host);
  for (const auto* watcher : {&one, &two}) {
    REQUIRE(wait_until([&] { return (*watcher)->status()->state == LiveState::kDone; }));
    check_same_tables(rig.there(1), (*watcher)->status()->capture_path);
  }
  // A watcher that says otherwise is not believed.
  const auto line = rig.dial(/*watch=*/true);
  line->write(greeting_bytes(ClientGreeting{.protocol = kProtocol, .version = "1", .client = "x"}) +
              bytes_of(Ask{.serial = 1, .kind = AskKind::kEnd}));
  FrameReader reader;
  bool refused = false;
  while (const auto frame = next_frame(*line, reader)) {
    if (frame->kind != FrameKind::kMessage) continue;
    const Told told = read_told(frame->payload);
    refused = told.kind == ToldKind::kNotice && has(told.text, "only watches");
    if (refused) break;
  }
  CHECK(refused);
}

TEST_CASE("remote run: ends that do not understand each other say so") {
  RemoteRig rig;
  const auto answer_to = [&](const std::string& bytes) {
    const auto line = rig.dial(false);
    line->write(bytes);
    FrameReader reader;
    const auto frame = next_frame(*line, reader);
    REQUIRE(frame);
    return read_server_greeting(frame->payload).refused;
  };
  CHECK(has(answer_to(greeting_bytes(ClientGreeting{.protocol = 99, .version = "9"})),
            "there triescope 9 (protocol 99)"));
  CHECK(has(answer_to("GET / HTTP/1.1\n\n"), "expected triescope's greeting"));
  CHECK(has(answer_to(std::string(kOpening) + message_bytes(FrameKind::kMessage, {{"kind", 4}})),
            "greeting"));

  const auto why = [&](const std::string& script) {
    RemoteHost host({.where = "box",
                     .dial =
                         [&](const std::string&) {
                           return line_to_program({"sh", "-c", script},
                                                  [](int code, const std::string& said) {
                                                    return std::to_string(code) + ": " + said;
                                                  });
                         },
                     .wake = [] {},
                     .captures = rig.folder.path()});
    return refusal(ErrorCode::kIoError, [&] { host.wait_connected(); });
  };
  CHECK(why("echo 'no key' >&2; exit 255") == "255: no key");
  CHECK(has(why("exec nothing-of-this-name"), "127: "));
}

}  // namespace
}  // namespace triescope::app::test_remote_host

// What is recorded is what is read.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

namespace fs = std::filesystem;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class Rows, class Same>
void check_rows(const char* table, const Rows& expected,
                std::span<const typename Rows::value_type> found, Same same_row) {
  INFO(table);
  REQUIRE(expected.size() > 0);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("row " << i);
    CHECK(same_row(expected[i], found[i]));
  }
}

// The first column of the first row, as SQLite writes it.
std::string sql_answer(const std::string& path, const char* query) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(db, query, -1, &statement, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  const std::string answer = text ? text : "NULL";
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return answer;
}

TEST_CASE("capture: every table comes back as it was recorded") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  MemoryRecorder truth;
  record_sample(truth, 30, 3);
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, 30, 3);
  }
  const auto c = Capture::open(path);
  const RunInfo& run = c->run();
  const RunInfo info = sample_info();
  CHECK(run.created_utc == info.created_utc);
  CHECK(run.model_json == info.model_json);
  CHECK(run.method == info.method);
  CHECK(run.method_title == info.method_title);
  CHECK(run.settings_json == info.settings_json);
  CHECK(run.seed == info.seed);
  CHECK(run.versions_json == info.versions_json);
  CHECK(run.prompt_text == info.prompt_text);
  CHECK(run.prompt_tokens == info.prompt_tokens);
  CHECK(run.max_new_tokens == info.max_new_tokens);
  CHECK(run.kv_bytes_per_token == info.kv_bytes_per_token);
  CHECK(run.sliding_window == info.sliding_window);
  CHECK(run.kv_policy == info.kv_policy);
  CHECK(run.timed_while_drawing == info.timed_while_drawing);
  CHECK(run.conversation_json == info.conversation_json);
  CHECK(c->status() == RunStatus::kDone);
  CHECK(c->status_message() == "all beams finished");
  CHECK(c->end_tick() == 150);
  CHECK(c->last_step() == 29);
  CHECK(c->piece(7) == std::string_view("t7\xC3"));
  CHECK(c->piece(1234) == "<1234>");

  check_rows("step", truth.steps, c->steps(), [](const StepRow& a, const StepRow& b) {
    return a.step == b.step && a.forward_rows == b.forward_rows && a.drafted == b.drafted &&
           a.accepted == b.accepted && a.emitted == b.emitted && a.frontier == b.frontier;
  });
  check_rows("phase", truth.phases, c->phases(), [](const PhaseRow& a, const PhaseRow& b) {
    return a.tick == b.tick && a.start_us == b.start_us && a.duration_us == b.duration_us;
  });
  check_rows("node", truth.node_rows, c->nodes(), [](const NodeRow& a, const NodeRow& b) {
    return a.node == b.node && a.parent == b.parent && a.token == b.token && a.depth == b.depth &&
           same(a.logprob, b.logprob) && same(a.score, b.score) && a.q == b.q &&
           a.source == b.source && a.tick == b.tick;
  });
  check_rows("memory", truth.memory_rows, c->memory(), [](const MemoryRow& a, const MemoryRow& b) {
    return a.step == b.step && a.live == b.live && a.garbage == b.garbage &&
           a.reserved == b.reserved && a.greedy == b.greedy && a.batch_beam == b.batch_beam &&
           a.moved_bytes == b.moved_bytes && a.device_allocated_bytes == b.device_allocated_bytes &&
           a.device_reserved_bytes == b.device_reserved_bytes;
  });
  check_rows("sequence", truth.sequence_rows, c->sequences(),
             [](const SequenceRow& a, const SequenceRow& b) {
               return a.tick == b.tick && a.node == b.node && a.rank == b.rank &&
                      same(a.score, b.score) && a.finish == b.finish && a.tokens == b.tokens;
             });
  check_rows("log", truth.log_rows, c->log(), [](const LogRow& a, const LogRow& b) {
    return a.tick == b.tick && a.level == b.level && a.text == b.text;
  });
  std::vector<InputRow> inputs;
  std::vector<VerdictRow> verdicts;
  std::vector<FrontierRow> frontier;
  std::vector<SlotRow> slots;
  for (std::int32_t step = 0; step < 30; ++step) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(inputs, c->inputs(step));
    append(verdicts, c->verdicts(step));
    append(frontier, c->frontier(step));
    append(slots, c->slot_events(step));
  }
  check_rows("input", truth.input_rows, inputs, [](const InputRow& a, const InputRow& b) {
    return a.step == b.step && a.row == b.row && a.node == b.node && a.position == b.position &&
           a.slot == b.slot && a.naive_position == b.naive_position && a.whose == b.whose &&
           a.forward == b.forward;
  });
  check_rows("verdict", truth.verdict_rows, verdicts, [](const VerdictRow& a, const VerdictRow& b) {
    return a.tick == b.tick && a.node == b.node && a.verdict == b.verdict && a.p == b.p &&
           a.q == b.q && a.u == b.u && a.rank == b.rank && same(a.score, b.score) &&
           a.gap == b.gap && a.replacement == b.replacement && a.reason == b.reason &&
           a.value == b.value && a.threshold == b.threshold && a.count == b.count && a.why == b.why;
  });
  check_rows(
      "frontier", truth.frontier_rows, frontier, [](const FrontierRow& a, const FrontierRow& b) {
        return a.step == b.step && a.rank == b.rank && a.node == b.node && same(a.score, b.score);
      });
  check_rows("slot", truth.slot_rows, slots, [](const SlotRow& a, const SlotRow& b) {
    return a.tick == b.tick && a.action == b.action && a.slot == b.slot && a.node == b.node &&
           a.from_slot == b.from_slot;
  });
  CHECK(c->counts().candidates == static_cast<std::int64_t>(truth.candidate_rows.size()));
  for (const CandidateRow& row : truth.candidate_rows) {
    const auto found = c->candidates(row.node, row.tick + 1);
    REQUIRE(found.size() == 5);
    const CandidateRow& b = found[static_cast<std::size_t>(row.rank)];
    CHECK(b.tick == row.tick);
    CHECK(b.token == row.token);
    CHECK(b.logprob == row.logprob);
    CHECK(b.chosen == row.chosen);
    CHECK(c->candidates(row.node, row.tick).empty());
  }
}

TEST_CASE("capture: of several texts of one token the first counts") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    recorder->write({.run = sample_info(), .pieces = {{7, "first"}, {8, "other"}, {7, "second"}}});
    recorder->write({.pieces = {{8, "third"}}, .finish = Finish{}});
  }
  const auto c = Capture::open(path);
  CHECK(c->piece(7) == "first");
  CHECK(c->piece(8) == "other");
}

TEST_CASE("capture: a finished one is one file, and SQL can ask it") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path);
  record_sample(*recorder, 10, 2);  // finish() closes the file; the recorder still exists
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 1);
  CHECK(sql_answer(path, "select avg(accepted) from step") == "0.4");  // steps 2, 4, 6, 8
}

TEST_CASE(
    "capture: bytes are blobs to SQL and token lists JSON, empty ones too; what is unknown is NULL") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path);
  recorder->write({.run = sample_info(),
                   .pieces = {{3, ""}, {4, "\xC3"}},
                   .sequences = {{.score = std::nanf(""), .finish = "eos", .tokens = {}}},
                   .finish = Finish{}});
  CHECK(sql_answer(path, "select group_concat(typeof(bytes)) from piece") == "blob,blob");
  CHECK(sql_answer(path, "select group_concat(length(bytes)) from piece") == "0,1");
  CHECK(sql_answer(path, "select tokens from sequence") == "[]");
  CHECK(sql_answer(path, "select typeof(score) from sequence") == "null");
  CHECK(sql_answer(path, "select prompt_tokens from run") == "[5,0,99]");
}

TEST_CASE("capture: levels record what they name, and each opens") {
  TempDir dir;
  for (const Level level : {Level::kSteps, Level::kTree, Level::kFull}) {
    const std::string path = dir.path() / "run.tscap";
    {
      const auto recorder = open_recorder(path, {.level = level});
      CHECK(recorder->level() == level);
      record_sample(*recorder, 12, 3);
    }
    const auto c = Capture::open(path);
    CHECK(c->counts().steps == 12);
    CHECK(c->counts().sequences == 3);
    CHECK((c->sequences()[0].node == -1) == (level == Level::kSteps));  // there is no tree
    CHECK((c->counts().nodes > 0) == (level >= Level::kTree));
    CHECK((c->counts().candidates > 0) == (level == Level::kFull));
    CHECK((c->counts().slots > 0) == (level == Level::kFull));
    CHECK(answers_at(*c, c->end_tick()).size() > 0);
  }
}

TEST_CASE("capture: every cursor shows the same whether it was read while growing or after") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  constexpr int kSteps = 25;
  std::vector<std::string> live(kSteps * 5 + 1), live_candidates(kSteps * 5 + 1);
  std::unique_ptr<Capture> growing;
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, kSteps, 3, [&](Tick tick) {
      recorder->flush();
      if (!growing) growing = Capture::open(path);
      CHECK((growing->poll() || tick == 0));
      CHECK(growing->status() == RunStatus::kRunning);
      REQUIRE(growing->end_tick() == tick + 1);
      live[static_cast<std::size_t>(tick) + 1] = answers_at(*growing, tick + 1);
      live_candidates[static_cast<std::size_t>(tick) + 1] = candidates_at(*growing, tick + 1);
    });
  }
  CHECK(growing->poll());
  CHECK_FALSE(growing->poll());
  CHECK(growing->status() == RunStatus::kDone);
  const auto after = Capture::open(path);
  for (Tick cursor = after->end_tick(); cursor >= 1; --cursor) {
    INFO("cursor " << cursor);
    const auto i = static_cast<std::size_t>(cursor);
    CHECK(answers_at(*after, cursor) == live[i]);
    CHECK(answers_at(*growing, cursor) == live[i]);
    CHECK(candidates_at(*after, cursor) == live_candidates[i]);
  }
  CHECK(after->nodes_at(0).empty());
}

TEST_CASE("capture: a reader on another thread follows a run at full speed") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  auto recorder = open_recorder(path, {.flush_interval_ms = 1});
  std::thread writer([&] { record_sample(*recorder, 1500, 3); });
  const auto c = Capture::open(path);
  Tick before = 0;
  while (c->status() == RunStatus::kRunning) {
    c->poll();
    CHECK(c->end_tick() >= before);
    before = c->end_tick();
    if (before > 0) CHECK(c->node_at(0, before).state == NodeState::kLive);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  writer.join();
  c->poll();
  CHECK(c->status() == RunStatus::kDone);
  CHECK(c->end_tick() == 7500);
}

TEST_CASE("capture: bookmarks are kept in the file, of a growing and of a finished one") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    bool done = false;
    record_sample(*recorder, 10, 2, [&](Tick tick) {
      if (tick < 20 || done) return;
      recorder->flush();
      Capture::open(path)->add_bookmark(12, "while it runs");
      done = true;
    });
  }
  auto c = Capture::open(path);
  c->add_bookmark(3, "a 'quoted' note");
  REQUIRE(c->bookmarks().size() == 2);
  CHECK(c->bookmarks()[0].tick == 3);
  CHECK(c->bookmarks()[0].note == "a 'quoted' note");
  c = Capture::open(path);
  REQUIRE(c->bookmarks().size() == 2);
  CHECK(c->bookmarks()[1].note == "while it runs");
  c->add_bookmark(-4, "before everything");
  REQUIRE(c->bookmarks().size() == 3);
  CHECK(c->bookmarks()[0].tick == 0);
  CHECK(c->bookmarks()[0].note == "before everything");
}

TEST_CASE("capture: a bookmark's note can be changed, and the bookmark removed") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, 10, 2);
  }
  auto c = Capture::open(path);
  for (const Tick tick : {3, 7, 9}) c->add_bookmark(tick, std::to_string(tick));
  const std::int64_t second = c->bookmarks()[1].id;
  c->set_bookmark_note(second, "where it goes wrong");
  c->remove_bookmark(c->bookmarks()[0].id);
  for (int again = 0; again < 2; ++again) {
    REQUIRE(c->bookmarks().size() == 2);
    CHECK(c->bookmarks()[0].id == second);
    CHECK(c->bookmarks()[0].tick == 7);
    CHECK(c->bookmarks()[0].note == "where it goes wrong");
    CHECK(c->bookmarks()[1].note == "9");
    c = Capture::open(path);
  }
  CHECK(refusal(ErrorCode::kNotFound, [&] { c->remove_bookmark(77); }).find("has no bookmark 77") !=
        std::string::npos);
  CHECK(refusal(ErrorCode::kNotFound, [&] { c->set_bookmark_note(77, "x"); }) != "");
  CHECK(c->bookmarks().size() == 2);
}

TEST_CASE("capture: a slice shows at its cursors what the whole shows") {
  TempDir dir;
  const std::string path = dir.path() / "it's 100%? #1 %41.tscap", part = dir.path() / "part.tscap";
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, 100, 3);
  }
  const auto whole = Capture::open(path);
  for (const Tick tick : {2, 49, 50, 60, 99, 100}) whole->add_bookmark(tick, std::to_string(tick));
  save_slice(path, part, 10, 19);
  const auto slice = Capture::open(part);
  CHECK(slice->steps().front().step == 10);
  CHECK(slice->last_step() == 19);
  CHECK(slice->run().prompt_tokens == whole->run().prompt_tokens);
  // From the first phase of the first step to the last phase of the last.
  std::vector<std::string> notes;
  for (const Bookmark& bookmark : slice->bookmarks()) notes.push_back(bookmark.note);
  CHECK(notes == std::vector<std::string>{"50", "60", "99"});
  CHECK(slice->phases().front().tick == 50);
  CHECK(slice->phases().back().tick == 99);
  CHECK(slice->log().size() == 5);  // those of before it too
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 2);
  for (Tick cursor = 50; cursor <= 100; ++cursor) {
    INFO("cursor " << cursor);
    CHECK(answers_at(*slice, cursor) == answers_at(*whole, cursor));
  }
  for (std::int32_t step = 10; step < 20; ++step) {
    CHECK(slice->inputs(step).size() == whole->inputs(step).size());
    CHECK(slice->step(step)->accepted == whole->step(step)->accepted);
  }
  CHECK(fs::file_size(part) < fs::file_size(path));
  CHECK_THROWS_AS(save_slice(path, part, 5, 100), Error);
  CHECK_THROWS_AS(save_slice(path, part, 5, 4), Error);
  CHECK_THROWS_AS(save_slice(path, part, -1, 4), Error);
  CHECK_THROWS_AS(save_slice(path, part, 99, 100), Error);
  CHECK_THROWS_AS(save_slice(path, path, 5, 6), Error);
  CHECK(Capture::open(path)->last_step() == 99);
}

TEST_CASE("capture: a slice of a run that still goes on is one that was stopped") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap", part = dir.path() / "part.tscap";
  const auto recorder = open_recorder(path);
  bool sliced = false;
  record_sample(*recorder, 10, 2, [&](Tick tick) {
    if (tick != make_tick(7, Phase::kObserve)) return;
    recorder->flush();
    save_slice(path, part, 2, 5);
    sliced = true;
  });
  REQUIRE(sliced);
  const auto slice = Capture::open(part);
  CHECK(slice->status() == RunStatus::kStopped);
  CHECK(slice->status_message() == "part of a run that was still going on");
  CHECK(slice->last_step() == 5);
}

TEST_CASE("recorder: what comes after the end of a run is dropped, however much it is") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path);
  record_sample(*recorder, 3, 2);
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) recorder->write({.log = {{.text = megabyte}}});
  recorder->flush();
  recorder->write({.finish = Finish{RunStatus::kFailed, "again"}});
  const auto c = Capture::open(path);
  CHECK(c->status() == RunStatus::kDone);
  CHECK(c->log().size() == 1);
}

}  // namespace
}  // namespace triescope::test

#include "core/capture/writer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

namespace fs = std::filesystem;

// What may wait to be written; beyond it the decoder waits. It is what this disk was seen to write
// in 0.2 s, so that a kill never costs more than the second promised: 0.2 s of gathering, 0.2 s
// waiting, 0.2 s being written. A beam search step hands over some 20 KB: even the least of it
// holds 25 steps, and no real model is as fast as the disk.
constexpr std::size_t kLeastPendingBytes = 512 << 10, kMostPendingBytes = 8 << 20;
constexpr double kPendingSeconds = 0.2;
constexpr std::size_t kMeasuredBytes = 64 << 10;  // smaller batches say little about speed

// What the decode thread hands over in one go.
struct Batch {
  std::optional<RunInfo> run;
  std::vector<std::pair<std::int32_t, std::string>> pieces;
  std::vector<StepRow> steps;
  std::vector<PhaseRow> phases;
  std::vector<NodeRow> nodes;
  std::vector<NodeScoreRow> node_scores;
  std::vector<InputRow> inputs;
  std::vector<CandidateRow> candidates;
  std::vector<VerdictRow> verdicts;
  std::vector<FrontierRow> frontier;
  std::vector<SlotRow> slots;
  std::vector<MemoryRow> memory;
  std::vector<SequenceRow> sequences;
  std::vector<LogRow> log;
  std::optional<std::pair<RunStatus, std::string>> finish;
  std::size_t bytes = 0;  // about what it holds; 0 = empty
};

// Memory a row takes in a batch.
template <class Row>
std::size_t size_of(const Row&) {
  return sizeof(Row);
}
std::size_t size_of(const VerdictRow& row) { return sizeof row + row.reason.size(); }
std::size_t size_of(const LogRow& row) { return sizeof row + row.text.size(); }
std::size_t size_of(const SequenceRow& row) {
  return sizeof row + row.tokens.size() * sizeof(std::int32_t);
}
std::size_t size_of(const RunInfo& info) {
  return sizeof info + info.prompt_text.size() + info.prompt_tokens.size() * sizeof(std::int32_t);
}

std::span<const std::byte> bytes_of(const std::vector<std::int32_t>& values) {
  return std::as_bytes(std::span(values));
}

// Only a capture, and one that nobody is recording, may be replaced.
void refuse_precious_file(const std::string& path, bool overwrite) {
  std::error_code ec;
  if (!fs::exists(path, ec)) return;
  if (!overwrite)
    throw Error(ErrorCode::kInvalidArgument, path + ": exists already; choose another name");
  bool capture = false;
  std::string recorder;
  try {
    const auto db = open_stranger(path);
    Statement id(*db, "PRAGMA application_id");
    capture = id.next() && id.integer(0) == kApplicationId;
    if (capture) {
      Statement run(*db, "SELECT recorder FROM run WHERE status=0");
      if (run.next()) recorder = run.text(0);
    }
  } catch (const Error&) {
    // Damaged below its header: still ours to replace, if the header says so.
  }
  if (!capture)
    throw Error(ErrorCode::kInvalidArgument,
                path +
                    ": exists and is no capture; expected a new file or a .tscap of triescope. "
                    "Choose another name or remove it");
  if (!recorder.empty() && recorder_lives(recorder, path))
    throw Error(ErrorCode::kInvalidArgument,
                path + ": a run is being recorded there; choose another name");
}

class FileRecorder final : public Recorder {
 public:
  FileRecorder(const std::string& path, const WriterOptions& options) : options_(options) {
    refuse_precious_file(path, options.overwrite);
    const auto remove = [&] {
      std::error_code ec;
      for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ec);
    };
    remove();
    try {
      create(path);
    } catch (const Error& error) {
      db_.reset();
      remove();
      throw Error(ErrorCode::kIoError,
                  "cannot record: " + std::string(error.what()) +
                      "; expected a folder that exists, can be written to and has space");
    }
    thread_ = std::thread([this] { loop(); });
  }

  void create(const std::string& path) {
    db_ = std::make_unique<Database>(
        path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    db_->execute("PRAGMA page_size=8192");
    // In one transaction, before the log exists: the file is a capture as soon as it is anything.
    db_->execute("BEGIN");
    db_->execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
    db_->execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
    for (const Table& table : tables())
      db_->execute(
          (std::string("CREATE TABLE ") + table.name + " (" + table.columns + ")").c_str());
    // Says from the first moment who records, so that a kill at any moment can be told.
    Statement(*db_, "INSERT INTO run (id, status, recorder) VALUES (1,0,?)")
        .bind(recorder_identity())
        .run();
    db_->execute("COMMIT");
    db_->execute("PRAGMA journal_mode=WAL");
    db_->execute("PRAGMA synchronous=NORMAL");
  }

  ~FileRecorder() override {
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Level level() const override { return options_.level; }

  void run(const RunInfo& info) override {
    add(size_of(info), [&](Batch& batch) { batch.run = info; });
  }
  void piece(std::int32_t token, std::string_view bytes) override {
    if (options_.level < Level::kTree || !seen_pieces_.insert(token).second) return;
    add(sizeof(std::string) + bytes.size(),
        [&](Batch& batch) { batch.pieces.emplace_back(token, std::string(bytes)); });
  }
  void step(const StepRow& row) override {
    add(size_of(row), [&](Batch& batch) { batch.steps.push_back(row); });
  }
  void phase(const PhaseRow& row) override {
    add(size_of(row), [&](Batch& batch) { batch.phases.push_back(row); });
  }
  void nodes(std::span<const NodeRow> rows) override { append(Level::kTree, rows, &Batch::nodes); }
  void node_scores(std::span<const NodeScoreRow> rows) override {
    append(Level::kTree, rows, &Batch::node_scores);
  }
  void inputs(std::span<const InputRow> rows) override {
    append(Level::kFull, rows, &Batch::inputs);
  }
  void candidates(std::span<const CandidateRow> rows) override {
    append(Level::kFull, rows, &Batch::candidates);
  }
  void verdicts(std::span<const VerdictRow> rows) override {
    append(Level::kTree, rows, &Batch::verdicts);
  }
  void frontier(std::span<const FrontierRow> rows) override {
    append(Level::kTree, rows, &Batch::frontier);
  }
  void slots(std::span<const SlotRow> rows) override { append(Level::kFull, rows, &Batch::slots); }
  void memory(const MemoryRow& row) override {
    add(size_of(row), [&](Batch& batch) { batch.memory.push_back(row); });
  }
  void sequence(const SequenceRow& row) override {
    add(size_of(row), [&](Batch& batch) { batch.sequences.push_back(row); });
  }
  void log(const LogRow& row) override {
    add(size_of(row), [&](Batch& batch) { batch.log.push_back(row); });
  }
  void finish(RunStatus status, std::string_view message) override {
    add(1 + message.size(), [&](Batch& batch) { batch.finish = {status, std::string(message)}; });
    std::unique_lock lock(mutex_);
    quit_ = true;
    changed_.notify_all();
    drained_.wait(lock, [&] { return gone_; });
    rethrow(lock);
    closed_ = true;
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    flush_wanted_ = true;
    changed_.notify_all();
    drained_.wait(lock, [&] { return (pending_.bytes == 0 && !writing_) || error_; });
    rethrow(lock);
  }

 private:
  template <class Fill>
  void add(std::size_t bytes, Fill fill) {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    // A row larger than all the memory still gets through, alone.
    if (pending_.bytes > 0 && pending_.bytes + bytes > max_pending_bytes_) {
      flush_wanted_ = true;
      changed_.notify_all();
      drained_.wait(lock, [&] {
        return pending_.bytes == 0 || pending_.bytes + bytes <= max_pending_bytes_ || error_;
      });
    }
    rethrow(lock);
    fill(pending_);
    const bool first = pending_.bytes == 0;
    pending_.bytes += bytes;
    if (first) changed_.notify_all();
  }

  template <class Row>
  void append(Level needed, std::span<const Row> rows, std::vector<Row> Batch::*member) {
    if (options_.level < needed || rows.empty()) return;
    std::size_t bytes = 0;
    for (const Row& row : rows) bytes += size_of(row);
    add(bytes, [&](Batch& batch) {
      (batch.*member).insert((batch.*member).end(), rows.begin(), rows.end());
    });
  }

  // Tells the error of the writing thread, once.
  void rethrow(std::unique_lock<std::mutex>&) {
    if (!error_) return;
    closed_ = true;
    std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void loop() {
    const std::chrono::milliseconds interval(options_.flush_interval_ms);
    auto next_write = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return quit_ || pending_.bytes > 0; });
      if (pending_.bytes == 0 && quit_) break;
      // Gather until it is time for another transaction, unless somebody waits.
      changed_.wait_until(lock, next_write, [&] { return quit_ || flush_wanted_; });
      next_write = std::chrono::steady_clock::now() + interval;
      Batch batch;
      std::swap(batch, pending_);
      flush_wanted_ = false;
      writing_ = true;
      lock.unlock();
      const auto began = std::chrono::steady_clock::now();
      std::exception_ptr error;
      try {
        if (db_) write(batch);
      } catch (const Error& failure) {
        error = std::make_exception_ptr(
            Error(ErrorCode::kIoError, "recording has stopped: " + std::string(failure.what())));
        // What was committed stays readable; nothing more is written.
        close_database(failure.what());
      } catch (...) {
        error = std::current_exception();
        close_database("recording failed");
      }
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      lock.lock();
      writing_ = false;
      if (batch.bytes >= kMeasuredBytes) {
        const double fits =
            static_cast<double>(batch.bytes) / std::max(seconds, 1e-3) * kPendingSeconds;
        // Slower is believed at once, faster by halves.
        const double now = static_cast<double>(max_pending_bytes_);
        const double next = fits < now ? fits : (fits + now) / 2;
        max_pending_bytes_ =
            std::clamp(static_cast<std::size_t>(next), kLeastPendingBytes, kMostPendingBytes);
      }
      if (error) error_ = error;
      drained_.notify_all();
    }
    lock.unlock();
    close_database("the recorder was closed before the run ended");
    lock.lock();
    gone_ = true;
    drained_.notify_all();
  }

  void write(const Batch& batch) {
    if (!statements_) statements_ = std::make_unique<Statements>(*db_);
    Statements& s = *statements_;
    db_->execute("BEGIN");
    try {
      if (batch.run) {
        const RunInfo& r = *batch.run;
        s.run.bind(r.created_utc)
            .bind(r.model_json)
            .bind(r.method)
            .bind(r.method_title)
            .bind(r.settings_json)
            .bind(r.seed);
        s.run.bind(r.versions_json)
            .bind(r.prompt_text)
            .bind_blob(bytes_of(r.prompt_tokens))
            .bind(std::int64_t{r.max_new_tokens});
        s.run.bind(r.kv_bytes_per_token).bind(std::int64_t{r.sliding_window}).bind(r.kv_policy);
        s.run.bind(static_cast<std::int64_t>(RunStatus::kRunning))
            .bind(std::string_view())
            .bind(recorder_identity())
            .run();
      }
      const auto i = [](auto value) { return static_cast<std::int64_t>(value); };
      const auto f = [](float value) { return static_cast<double>(value); };
      for (const auto& [token, bytes] : batch.pieces)
        s.piece.bind(i(token)).bind_blob(std::as_bytes(std::span(bytes))).run();
      for (const StepRow& r : batch.steps)
        s.step.bind(i(r.step))
            .bind(i(r.forward_rows))
            .bind(i(r.drafted))
            .bind(i(r.accepted))
            .bind(i(r.emitted))
            .bind(i(r.frontier))
            .run();
      for (const NodeRow& r : batch.nodes)
        s.node.bind(i(r.node))
            .bind(i(r.parent))
            .bind(i(r.token))
            .bind(i(r.depth))
            .bind(f(r.logprob))
            .bind(f(r.score))
            .bind(f(r.q))
            .bind(i(r.source))
            .bind(r.tick)
            .run();
      for (const NodeScoreRow& r : batch.node_scores)
        s.node_score.bind(i(r.node)).bind(f(r.logprob)).bind(f(r.score)).bind(r.tick).run();
      for (const InputRow& r : batch.inputs)
        s.input.bind(i(r.step))
            .bind(i(r.row))
            .bind(i(r.node))
            .bind(i(r.position))
            .bind(i(r.slot))
            .bind(i(r.naive_position))
            .run();
      for (const CandidateRow& r : batch.candidates)
        s.candidate.bind(r.tick)
            .bind(i(r.node))
            .bind(i(r.rank))
            .bind(i(r.token))
            .bind(f(r.logprob))
            .bind(i(r.chosen))
            .run();
      for (const VerdictRow& r : batch.verdicts)
        s.verdict.bind(r.tick)
            .bind(i(r.node))
            .bind(i(r.verdict))
            .bind(f(r.p))
            .bind(f(r.q))
            .bind(f(r.u))
            .bind(i(r.rank))
            .bind(f(r.score))
            .bind(f(r.gap))
            .bind(i(r.replacement))
            .bind(r.reason)
            .run();
      for (const FrontierRow& r : batch.frontier)
        s.frontier.bind(i(r.step)).bind(i(r.rank)).bind(i(r.node)).bind(f(r.score)).run();
      for (const SlotRow& r : batch.slots)
        s.slot.bind(r.tick)
            .bind(i(r.action))
            .bind(i(r.slot))
            .bind(i(r.node))
            .bind(i(r.from_slot))
            .run();
      for (const MemoryRow& r : batch.memory)
        s.memory.bind(i(r.step))
            .bind(i(r.live))
            .bind(i(r.garbage))
            .bind(i(r.reserved))
            .bind(i(r.greedy))
            .bind(i(r.batch_beam))
            .bind(r.moved_bytes)
            .bind(r.device_allocated_bytes)
            .bind(r.device_reserved_bytes)
            .run();
      for (const SequenceRow& r : batch.sequences)
        s.sequence.bind(r.tick)
            .bind(i(r.node))
            .bind(i(r.rank))
            .bind(f(r.score))
            .bind(r.finish)
            .bind_blob(bytes_of(r.tokens))
            .run();
      for (const LogRow& r : batch.log) s.log.bind(r.tick).bind(i(r.level)).bind(r.text).run();
      // Last: a phase that can be read has all its rows before it.
      for (const PhaseRow& r : batch.phases)
        s.phase.bind(r.tick).bind(r.start_us).bind(r.duration_us).run();
      if (batch.finish)
        s.finish.bind(static_cast<std::int64_t>(batch.finish->first))
            .bind(batch.finish->second)
            .run();
      db_->execute("COMMIT");
    } catch (...) {
      sqlite3_exec(db_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  // `why`: what a run that never reached finish() is said to have ended of. Never throws: all of it
  // may fail on a full disk, and what was committed is readable without it.
  void close_database(const char* why) {
    if (!db_) return;
    statements_.reset();
    sqlite3* handle = db_->handle();
    // Fold the log into the file, so that a closed capture is one file. It also makes room in the
    // log for the last word.
    sqlite3_wal_checkpoint_v2(handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    try {
      Statement(*db_, "UPDATE run SET status=?, message=? WHERE id=1 AND status=0")
          .bind(static_cast<std::int64_t>(RunStatus::kStopped))
          .bind(std::string_view(why))
          .run();
    } catch (const Error&) {
    }
    // Refused while somebody reads; the file then stays in WAL mode, which is as good.
    sqlite3_busy_timeout(handle, 0);
    sqlite3_exec(handle, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
    db_.reset();
  }

  struct Statements {
    explicit Statements(Database& db)
        : run(db, "INSERT OR REPLACE INTO run VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
          piece(db, "INSERT INTO piece VALUES (NULL,?,?)"),
          step(db, "INSERT INTO step VALUES (NULL,?,?,?,?,?,?)"),
          phase(db, "INSERT INTO phase VALUES (NULL,?,?,?)"),
          node(db, "INSERT INTO node VALUES (NULL,?,?,?,?,?,?,?,?,?)"),
          node_score(db, "INSERT INTO node_score VALUES (NULL,?,?,?,?)"),
          input(db, "INSERT INTO input VALUES (NULL,?,?,?,?,?,?)"),
          candidate(db, "INSERT INTO candidate VALUES (NULL,?,?,?,?,?,?)"),
          verdict(db, "INSERT INTO verdict VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?)"),
          frontier(db, "INSERT INTO frontier VALUES (NULL,?,?,?,?)"),
          slot(db, "INSERT INTO slot VALUES (NULL,?,?,?,?,?)"),
          memory(db, "INSERT INTO memory VALUES (NULL,?,?,?,?,?,?,?,?,?)"),
          sequence(db, "INSERT INTO sequence VALUES (NULL,?,?,?,?,?,?)"),
          log(db, "INSERT INTO log VALUES (NULL,?,?,?)"),
          finish(db, "UPDATE run SET status=?, message=? WHERE id=1") {}
    Statement run, piece, step, phase, node, node_score, input, candidate, verdict, frontier, slot,
        memory, sequence, log, finish;
  };

  const WriterOptions options_;
  std::unordered_set<std::int32_t> seen_pieces_;  // decode thread's own

  std::mutex mutex_;
  std::condition_variable changed_, drained_;
  Batch pending_;
  std::size_t max_pending_bytes_ = kLeastPendingBytes;
  bool quit_ = false, writing_ = false, flush_wanted_ = false, closed_ = false, gone_ = false;
  std::exception_ptr error_;

  // The writing thread's own, once it runs.
  std::unique_ptr<Database> db_;
  std::unique_ptr<Statements> statements_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, const WriterOptions& options) {
  return std::make_unique<FileRecorder>(path, options);
}

}  // namespace triescope::capture

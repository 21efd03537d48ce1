#include "core/capture/writer.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPendingRows =
    600'000;  // about 64 MB: beyond it the decoder waits for the disk

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
  std::size_t rows = 0;
};

std::span<const std::byte> bytes_of(const std::vector<std::int32_t>& values) {
  return std::as_bytes(std::span(values));
}

// True if the file is a SQLite database with our application id (or does not exist).
void refuse_foreign_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  char header[100] = {};
  file.read(header, sizeof header);
  const bool sqlite = std::memcmp(header, "SQLite format 3", 16) == 0;
  const auto byte = [&](int i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(header[i]));
  };
  const std::uint32_t id = byte(68) << 24 | byte(69) << 16 | byte(70) << 8 | byte(71);
  if (file.gcount() == sizeof header && sqlite && id == static_cast<std::uint32_t>(kApplicationId))
    return;
  throw Error(ErrorCode::kInvalidArgument,
              path +
                  ": exists and is no capture; expected a new file or a .tscap of triescope. "
                  "Choose another name or remove it");
}

class FileRecorder final : public Recorder {
 public:
  FileRecorder(const std::string& path, const WriterOptions& options) : options_(options) {
    refuse_foreign_file(path);
    std::error_code ec;
    if (fs::exists(path, ec) && !options.overwrite)
      throw Error(ErrorCode::kInvalidArgument, path + ": exists already; choose another name");
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ec);
    db_ = std::make_unique<Database>(
        path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    db_->execute("PRAGMA page_size=8192");
    db_->execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
    db_->execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
    db_->execute("PRAGMA journal_mode=WAL");
    db_->execute("PRAGMA synchronous=NORMAL");
    db_->execute("BEGIN");
    for (const Table& table : tables())
      db_->execute(
          (std::string("CREATE TABLE ") + table.name + " (" + table.columns + ")").c_str());
    db_->execute("COMMIT");
    thread_ = std::thread([this] { loop(); });
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
    add(1, [&](Batch& batch) { batch.run = info; });
  }
  void piece(std::int32_t token, std::string_view bytes) override {
    if (options_.level < Level::kTree || !seen_pieces_.insert(token).second) return;
    add(1, [&](Batch& batch) { batch.pieces.emplace_back(token, std::string(bytes)); });
  }
  void step(const StepRow& row) override {
    add(1, [&](Batch& batch) { batch.steps.push_back(row); });
  }
  void phase(const PhaseRow& row) override {
    add(1, [&](Batch& batch) { batch.phases.push_back(row); });
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
    add(1, [&](Batch& batch) { batch.memory.push_back(row); });
  }
  void sequence(const SequenceRow& row) override {
    add(1, [&](Batch& batch) { batch.sequences.push_back(row); });
  }
  void log(const LogRow& row) override {
    add(1, [&](Batch& batch) { batch.log.push_back(row); });
  }
  void finish(RunStatus status, std::string_view message) override {
    add(1, [&](Batch& batch) { batch.finish = {status, std::string(message)}; });
    flush();
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    flush_wanted_ = true;
    changed_.notify_all();
    drained_.wait(lock, [&] { return (pending_.rows == 0 && !writing_) || error_; });
    rethrow(lock);
  }

 private:
  template <class Fill>
  void add(std::size_t rows, Fill fill) {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    if (pending_.rows > kMaxPendingRows) {
      flush_wanted_ = true;
      changed_.notify_all();
      drained_.wait(lock, [&] { return pending_.rows <= kMaxPendingRows || error_; });
    }
    rethrow(lock);
    fill(pending_);
    const bool first = pending_.rows == 0;
    pending_.rows += rows;
    if (first) changed_.notify_all();
  }

  template <class Row>
  void append(Level needed, std::span<const Row> rows, std::vector<Row> Batch::*member) {
    if (options_.level < needed || rows.empty()) return;
    add(rows.size(), [&](Batch& batch) {
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
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return quit_ || pending_.rows > 0; });
      if (pending_.rows == 0 && quit_) break;
      // Gather for a while, unless somebody waits.
      changed_.wait_for(lock, std::chrono::milliseconds(options_.flush_interval_ms),
                        [&] { return quit_ || flush_wanted_ || pending_.rows > kMaxPendingRows; });
      Batch batch;
      std::swap(batch, pending_);
      flush_wanted_ = false;
      writing_ = true;
      lock.unlock();
      std::exception_ptr error;
      try {
        if (db_) write(batch);
      } catch (...) {
        error = std::current_exception();
        // What was committed stays readable; nothing more is written.
        close_database();
      }
      lock.lock();
      writing_ = false;
      if (error) error_ = error;
      drained_.notify_all();
    }
    lock.unlock();
    close_database();
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
            .bind(std::int64_t{::getpid()})
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

  void close_database() {
    if (!db_) return;
    statements_.reset();
    // Fold the log into the file, so that a finished capture is one file.
    sqlite3_wal_checkpoint_v2(db_->handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    db_.reset();
  }

  struct Statements {
    explicit Statements(Database& db)
        : run(db, "INSERT INTO run VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
          piece(db, "INSERT OR IGNORE INTO piece VALUES (?,?)"),
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
  bool quit_ = false, writing_ = false, flush_wanted_ = false, closed_ = false;
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

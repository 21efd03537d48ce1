#include "core/capture/writer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/capture/batch.h"
#include "core/capture/batch_writer.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// What may wait to be written; beyond it the decoder waits. It is what this disk was seen to write
// in 0.2 s, so that a kill never costs more than the second promised: 0.2 s of gathering, 0.2 s
// waiting, 0.2 s being written. A beam search step hands over some 20 KB: even the least of it
// holds 25 steps, and no real model is as fast as the disk.
constexpr std::size_t kLeastPendingBytes = 512 << 10, kMostPendingBytes = 8 << 20;
constexpr double kPendingSeconds = 0.2;
// However little it is, the decoder also waits when the oldest row not yet on disk is this old: on
// a machine that gives the recorder's thread no time, decoding slows rather than runs ahead of it.
constexpr auto kMostPendingAge = std::chrono::milliseconds(600);
constexpr std::size_t kMeasuredBytes = 64 << 10;  // smaller batches say little about speed

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
  void nodes(std::span<const NodeRow> rows) override {
    append(Level::kTree, rows, &RowTables::nodes);
  }
  void node_scores(std::span<const NodeScoreRow> rows) override {
    append(Level::kTree, rows, &RowTables::node_scores);
  }
  void inputs(std::span<const InputRow> rows) override {
    append(Level::kFull, rows, &RowTables::inputs);
  }
  void candidates(std::span<const CandidateRow> rows) override {
    append(Level::kFull, rows, &RowTables::candidates);
  }
  void verdicts(std::span<const VerdictRow> rows) override {
    append(Level::kTree, rows, &RowTables::verdicts);
  }
  void frontier(std::span<const FrontierRow> rows) override {
    append(Level::kTree, rows, &RowTables::frontier);
  }
  void slots(std::span<const SlotRow> rows) override {
    append(Level::kFull, rows, &RowTables::slots);
  }
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
    const auto fits = [&] {
      return (pending_.bytes == 0 || pending_.bytes + bytes <= max_pending_bytes_) && !is_late();
    };
    while (!fits() && !error_) {
      flush_wanted_ = true;
      changed_.notify_all();
      drained_.wait(lock);
    }
    rethrow(lock);
    fill(pending_);
    const bool first = pending_.bytes == 0;
    if (first) pending_since_ = Clock::now();
    pending_.bytes += bytes;
    if (first) changed_.notify_all();
  }

  template <class Row>
  void append(Level needed, std::span<const Row> rows, std::vector<Row> RowTables::*member) {
    if (options_.level < needed || rows.empty()) return;
    std::size_t bytes = 0;
    for (const Row& row : rows) bytes += size_of(row);
    add(bytes, [&](Batch& batch) {
      (batch.*member).insert((batch.*member).end(), rows.begin(), rows.end());
    });
  }

  bool is_late() const {
    if (!writing_ && pending_.bytes == 0) return false;
    return Clock::now() - (writing_ ? writing_since_ : pending_since_) > kMostPendingAge;
  }

  // Tells the error of the writing thread, once.
  void rethrow(std::unique_lock<std::mutex>&) {
    if (!error_) return;
    closed_ = true;
    std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void loop() {
    const std::chrono::milliseconds interval(options_.flush_interval_ms);
    auto next_write = Clock::now();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return quit_ || pending_.bytes > 0; });
      if (pending_.bytes == 0 && quit_) break;
      // Gather until it is time for another transaction, unless somebody waits.
      changed_.wait_until(lock, next_write, [&] { return quit_ || flush_wanted_; });
      next_write = Clock::now() + interval;
      Batch batch;
      std::swap(batch, pending_);
      flush_wanted_ = false;
      writing_ = true;
      writing_since_ = pending_since_;
      lock.unlock();
      const auto began = Clock::now();
      std::exception_ptr error;
      try {
        if (db_) {
          if (!batch_writer_) batch_writer_ = std::make_unique<BatchWriter>(*db_);
          batch_writer_->write(batch);
        }
      } catch (const Error& failure) {
        error = std::make_exception_ptr(
            Error(ErrorCode::kIoError, "recording has stopped: " + std::string(failure.what())));
        // What was committed stays readable; nothing more is written.
        close_database(failure.what());
      } catch (...) {
        error = std::current_exception();
        close_database("recording failed");
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
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

  // `why`: what a run that never reached finish() is said to have ended of. Never throws: all of it
  // may fail on a full disk, and what was committed is readable without it.
  void close_database(const char* why) {
    if (!db_) return;
    batch_writer_.reset();
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

  const WriterOptions options_;
  std::unordered_set<std::int32_t> seen_pieces_;  // decode thread's own

  std::mutex mutex_;
  std::condition_variable changed_, drained_;
  Batch pending_;
  std::size_t max_pending_bytes_ = kLeastPendingBytes;
  Clock::time_point pending_since_, writing_since_;  // of the oldest row of each
  bool quit_ = false, writing_ = false, flush_wanted_ = false, closed_ = false, gone_ = false;
  std::exception_ptr error_;

  // The writing thread's own, once it runs.
  std::unique_ptr<Database> db_;
  std::unique_ptr<BatchWriter> batch_writer_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, const WriterOptions& options) {
  return std::make_unique<FileRecorder>(path, options);
}

}  // namespace triescope::capture

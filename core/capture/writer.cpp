#include "core/capture/writer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/memory_wait.h"
#include "core/capture/new_capture.h"
#include "core/capture/row_types.h"
#include "core/capture/row_writer.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

using Clock = std::chrono::steady_clock;

// How many bytes may wait to be written; beyond them the decoder waits. The limit is what this disk
// was seen to write in 0.2 s, so that a kill never costs more than the promised second: 0.2 s of
// gathering, 0.2 s of waiting, 0.2 s of being written. A beam search step hands over some 20 KB:
// even the smallest buffer holds 25 steps, and no real model is as fast as the disk.
constexpr std::size_t kLeastPendingBytes = 512 << 10, kMostPendingBytes = 8 << 20;
constexpr double kPendingSeconds = 0.2;
// However few rows wait, the decoder waits once the oldest that is not on disk is this old: on a
// machine that gives the recorder's thread no time, decoding slows down rather than running ahead.
constexpr auto kMostPendingAge = std::chrono::milliseconds(600);
constexpr std::size_t kMeasuredBytes = 64 << 10;  // smaller batches say little about speed
constexpr const char* kClosedEarly = "the recorder was closed before the run ended";

class FileRecorder final : public Recorder {
 public:
  FileRecorder(const std::string& path, const WriterOptions& options)
      : options_(options), db_(create_capture(path, options.overwrite)) {
    thread_ = std::thread([this] { loop(); });
  }

  ~FileRecorder() override {
    {
      std::lock_guard lock(mutex_);
      quit_ = gives_up_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Level level() const override { return options_.level; }

  void write(const RowTables& rows) override {
    if (const std::size_t bytes = bytes_kept(rows); bytes > 0) add(bytes, rows);
    if (rows.finish) close();
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    try_again(lock);
    flush_wanted_ = true;
    changed_.notify_all();
    drained_.wait(lock, [&] { return (pending_.bytes == 0 && !writing_) || refused_ || error_; });
    rethrow(lock);
  }

 private:
  // Calls visit(member) for the tables that are recorded at this level.
  template <class Visit>
  void for_each_kept(Visit visit) const {
    for_each_table([&](const auto member) {
      if (options_.level >= RowType<RowOf<decltype(member)>>::kLevel) visit(member);
    });
  }

  std::size_t bytes_kept(const RowTables& rows) const {
    std::size_t bytes = 0;
    if (rows.run) bytes += size_of(*rows.run);
    for_each_kept([&](const auto member) {
      for (const auto& row : rows.*member) bytes += size_of(row);
    });
    if (rows.finish) bytes += sizeof(Finish) + rows.finish->message.size();
    return bytes;
  }

  void add(std::size_t bytes, const RowTables& rows) {
    std::unique_lock lock(mutex_);
    if (closed_ || quit_) return;  // the run's end was handed over
    try_again(lock);
    // A batch that is larger than the limit still gets through, alone.
    const auto fits = [&] {
      return (pending_.bytes == 0 || pending_.bytes + bytes <= max_pending_bytes_) && !is_late();
    };
    while (!fits() && !refused_ && !error_) {
      flush_wanted_ = true;
      changed_.notify_all();
      drained_.wait(lock);
    }
    rethrow(lock);
    take(rows);
    const bool first = pending_.bytes == 0;
    if (first) pending_since_ = options_.now();
    pending_.bytes += bytes;
    if (first) changed_.notify_all();
  }

  // Adds all the rows to what is pending, or none where memory is refused.
  void take(const RowTables& rows) {
    RowTables& to = pending_.rows;
    std::array<std::size_t, std::tuple_size_v<decltype(kRowTables)>> sizes;
    std::size_t table = 0;
    for_each_kept([&](const auto member) { sizes[table++] = (to.*member).size(); });
    try {
      for_each_kept([&](const auto member) {
        (to.*member).insert((to.*member).end(), (rows.*member).begin(), (rows.*member).end());
      });
      if (rows.run) {
        to.run = rows.run;
        to.run->timed_while_drawing |= options_.timed_while_drawing;
      }
      if (rows.finish) to.finish = rows.finish;
    } catch (...) {
      table = 0;
      for_each_kept([&](const auto member) {
        auto& all = to.*member;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(sizes[table++]), all.end());
      });
      throw;
    }
  }

  // Waits until the thread has written everything and is gone.
  void close() {
    std::unique_lock lock(mutex_);
    quit_ = true;
    try_again(lock);
    changed_.notify_all();
    drained_.wait(lock, [&] { return gone_ || refused_; });
    rethrow(lock);
    closed_ = true;
  }

  bool is_late() const {
    if (!writing_ && pending_.bytes == 0) return false;
    return options_.now() - (writing_ ? writing_since_ : pending_since_) > kMostPendingAge;
  }

  // Lets a thread that was refused memory try again, now that somebody asks.
  void try_again(std::unique_lock<std::mutex>& lock) {
    if (!refused_) return;
    refused_ = false;
    changed_.notify_all();
    drained_.wait(lock, [&] { return refused_ || !writing_; });
    rethrow(lock);
  }

  // Throws the writing thread's error, once, or that memory is refused, each time.
  void rethrow(std::unique_lock<std::mutex>&) {
    if (refused_)
      throw Error(ErrorCode::kOutOfMemory,
                  "out of memory: the recording found no room; nothing of it is lost. Close other "
                  "programs, then go on");
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
      const Pending batch = std::exchange(pending_, {});
      flush_wanted_ = false;
      writing_ = true;
      writing_since_ = pending_since_;
      lock.unlock();
      Clock::time_point began;
      std::exception_ptr error;
      try {
        with_memory([this](const Error&) { return wait_for_memory(); },
                    [&] {
                      began = Clock::now();
                      if (!db_) return;
                      if (!row_writer_) row_writer_ = std::make_unique<RowWriter>(*db_);
                      row_writer_->write(batch.rows);
                    });
      } catch (const Error& failure) {
        error = std::make_exception_ptr(
            Error(ErrorCode::kIoError, "recording has stopped: " + std::string(failure.what())));
        // The committed rows stay readable; nothing more is written.
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
        // A slower disk is believed at once, a faster one only halfway each time.
        const double now = static_cast<double>(max_pending_bytes_);
        const double next = fits < now ? fits : (fits + now) / 2;
        max_pending_bytes_ =
            std::clamp(static_cast<std::size_t>(next), kLeastPendingBytes, kMostPendingBytes);
      }
      if (error) error_ = error;
      drained_.notify_all();
    }
    lock.unlock();
    close_database(kClosedEarly);
    lock.lock();
    gone_ = true;
    drained_.notify_all();
  }

  // Runs on the writing thread, which keeps its rows. Returns when somebody asks to write again;
  // until then, flush() reports that memory was refused.
  bool wait_for_memory() {
    row_writer_.reset();
    std::unique_lock lock(mutex_);
    refused_ = true;
    drained_.notify_all();
    changed_.wait(lock, [&] { return !refused_ || gives_up_; });
    if (gives_up_) throw Error(ErrorCode::kCancelled, kClosedEarly);
    return true;
  }

  // `why` is recorded as the end of a run that never reached finish().
  void close_database(const char* why) {
    row_writer_.reset();
    if (db_) close_capture(std::move(db_), why);
  }

  const WriterOptions options_;

  std::mutex mutex_;
  std::condition_variable changed_, drained_;
  // Rows on their way to the writing thread, which puts them on disk in one go.
  struct Pending {
    RowTables rows;
    std::size_t bytes = 0;  // about how many bytes they hold; 0 = none
  } pending_;
  std::size_t max_pending_bytes_ = kLeastPendingBytes;
  Clock::time_point pending_since_, writing_since_;  // time of the oldest row of each
  bool quit_ = false, writing_ = false, flush_wanted_ = false, closed_ = false, gone_ = false;
  // The thread holds rows for which memory was refused; gives_up_: nobody will ask it to try again.
  bool refused_ = false, gives_up_ = false;
  std::exception_ptr error_;

  // Only the writing thread uses this, once it runs.
  std::unique_ptr<Database> db_;
  std::unique_ptr<RowWriter> row_writer_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, const WriterOptions& options) {
  return std::make_unique<FileRecorder>(path, options);
}

}  // namespace triescope::capture

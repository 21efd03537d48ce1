#include "app/remote/remote_rows.h"

#include <unistd.h>

#include <utility>

#include "core/base/error.h"

namespace triescope::app {

void RemoteRows::expect(std::uint64_t asked_serial, const std::string& path) {
  std::lock_guard lock(mutex_);
  expected_[asked_serial] = path;
}

void RemoteRows::begin(const Told& told) {
  if (told.run == run_ && copy_) return;  // it goes on after a break
  // One that came before would be written over while a reader has it open.
  if (told.run <= run_)
    throw Error(ErrorCode::kCorruption, "the other end of the line: run " +
                                            std::to_string(told.run) + " after run " +
                                            std::to_string(run_));
  std::string path;
  const bool is_own = told.asked_by == client_;
  if (is_own) {
    std::lock_guard lock(mutex_);
    if (const auto found = expected_.find(told.asked_serial); found != expected_.end())
      path = found->second;
  }
  if (path.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    path = (folder_ / ("remote-" + std::to_string(::getpid()) + "-" + client_.substr(0, 8) + "-" +
                       std::to_string(told.run) + ".tscap"))
               .string();
  }
  // Where it cannot be written, the next line begins with it again.
  copy_ = std::make_unique<capture::RowCopy>(path);
  run_ = told.run;
  path_ = std::move(path);
  if (!is_own) return;
  std::lock_guard lock(mutex_);
  expected_.erase(expected_.begin(), expected_.upper_bound(told.asked_serial));
}

void RemoteRows::take(const RunRows& rows) {
  if (!copy_ || rows.run != run_)
    throw Error(ErrorCode::kCorruption, "the other end of the line: rows of run " +
                                            std::to_string(rows.run) + ", expected run " +
                                            std::to_string(run_));
  if (copy_->ended()) return;  // after a break the end comes again
  copy_->write(rows.piece);
  if (copy_->ended()) copy_->close();
}

void RemoteRows::rewind() {
  if (copy_) copy_->rewind();
}

void RemoteRows::close(const char* why) {
  if (copy_) copy_->close(why);
  copy_.reset();
  run_ = 0;
}

}  // namespace triescope::app

#include "core/doctor/watch.h"

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

namespace triescope::doctor {
namespace {

// A run that still grows is checked again after this many times as long as that took last.
constexpr int kRestFactor = 20;

std::int64_t rows_of(const capture::Capture& capture) {
  std::int64_t rows = 0;
  for (const char* table : {"node", "input", "candidate", "verdict", "slot", "seen"})
    rows += capture.rows_in(table);
  return rows;
}

}  // namespace

// The thread's work. It reads the file itself: a capture belongs to one thread.
struct DoctorWatch::Job {
  Key about;
  Opinion opinion;
  Clock::duration took{};
  std::atomic<double> done = 0;
  std::atomic<bool> is_over = false;
  std::jthread thread;  // the last member: it ends before what it uses

  explicit Job(Key key) : about(std::move(key)) {
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    const auto begin = Clock::now();
    try {
      const auto capture = capture::Capture::open(about.path);
      opinion.last_step = capture->last_step();
      opinion.diagnosis = diagnose(*capture, [&](double share) {
        done = share;
        return !stop.stop_requested();
      });
    } catch (const std::exception& error) {
      opinion.problem = error.what();
    }
    took = Clock::now() - begin;
    is_over = true;
  }
};

DoctorWatch::DoctorWatch(std::int64_t rows_at_once) : rows_at_once_(rows_at_once) {}
DoctorWatch::~DoctorWatch() = default;
DoctorWatch::DoctorWatch(DoctorWatch&&) noexcept = default;
DoctorWatch& DoctorWatch::operator=(DoctorWatch&&) noexcept = default;

DoctorWatch::Key DoctorWatch::key_of(const capture::Capture& capture) {
  return {capture.path(),
          &capture,
          capture.last_step(),
          static_cast<std::int64_t>(capture.phases().size()),
          static_cast<std::int64_t>(capture.nodes().size()),
          capture.status()};
}

void DoctorWatch::give_up() {
  std::erase_if(ended_, [](const auto& job) { return job->is_over.load(); });
  if (!job_) return;
  job_->thread.request_stop();
  ended_.push_back(std::move(job_));
}

void DoctorWatch::check_here(const capture::Capture& capture) {
  give_up();
  const auto begin = Clock::now();
  opinion_ = {.diagnosis = diagnose(capture), .last_step = capture.last_step(), .is_current = true};
  made_ = Clock::now();
  took_ = made_ - begin;
  about_ = key_of(capture);
}

void DoctorWatch::take_result() {
  about_ = job_->about;
  opinion_ = std::move(job_->opinion);
  took_ = job_->took;
  made_ = Clock::now();
  job_.reset();
}

const DoctorWatch::Opinion& DoctorWatch::look(const capture::Capture& capture) {
  const Key key = key_of(capture);
  const auto is_of = [&](const Key& other) {
    return other.capture == key.capture && other.path == key.path;
  };
  if (job_ && !is_of(job_->about)) give_up();
  if (job_ && job_->is_over) take_result();
  if (!is_of(about_)) {
    about_ = {};
    opinion_ = {};
  }
  const bool rests = is_of(about_) && capture.status() == capture::RunStatus::kRunning &&
                     Clock::now() - made_ < took_ * kRestFactor;
  if (about_ != key && !job_ && !rests) {
    if (rows_of(capture) <= rows_at_once_)
      check_here(capture);
    else
      job_ = std::make_unique<Job>(key);
  }
  opinion_.is_current = about_ == key;
  opinion_.is_working = job_ != nullptr;
  opinion_.done = job_ ? job_->done.load() : 1;
  return opinion_;
}

const DoctorWatch::Opinion& DoctorWatch::complete(const capture::Capture& capture) {
  if (job_ && job_->is_over) take_result();
  if (about_ != key_of(capture)) check_here(capture);
  opinion_.is_working = false;
  opinion_.is_current = true;
  return opinion_;
}

}  // namespace triescope::doctor

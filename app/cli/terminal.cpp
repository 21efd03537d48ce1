#include "app/cli/terminal.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "core/base/error.h"

namespace triescope::app {

ProgressSink terminal_progress(bool quiet) {
  if (quiet || !isatty(STDERR_FILENO)) return {};
  return [last = std::chrono::steady_clock::time_point()](const std::string& what, double done,
                                                          double total) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (done < total && now - last < std::chrono::milliseconds(80)) return;
    last = now;
    const double share = total > 0 ? done / total : 0;
    std::string bar;
    for (int i = 0; i < 24; ++i) bar += i < share * 24 ? '#' : '.';
    std::fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", what.c_str(), bar.c_str(), share * 100);
    if (total > 0 && done >= total) clear_progress();
    std::fflush(stderr);
  };
}

std::string time_left_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole >= 3600)
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  if (whole >= 60) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

void clear_progress() {
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
}

struct InterruptGuard::State {
  std::function<void()> on_interrupt;
  std::atomic<bool> interrupted{false}, done{false};
  sigset_t previous;
  std::thread watcher;
};

InterruptGuard::InterruptGuard(std::function<void()> on_interrupt) : state_(new State) {
  state_->on_interrupt = std::move(on_interrupt);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &state_->previous);
  state_->watcher = std::thread([state = state_, set] {
    while (!state->done) {
      const timespec patience{0, 200'000'000};
      const int signal = sigtimedwait(&set, nullptr, &patience);
      if (signal < 0) continue;
      if (state->interrupted.exchange(true)) _exit(130);
      state->on_interrupt();
    }
  });
}

InterruptGuard::~InterruptGuard() {
  state_->done = true;
  state_->watcher.join();
  pthread_sigmask(SIG_SETMASK, &state_->previous, nullptr);
  delete state_;
}

bool InterruptGuard::interrupted() const { return state_->interrupted; }

void prepare_standard_output() {
  ::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free descriptor, which is this one. It is read-only, so writing to it
    // fails, as for a closed one.
    [[maybe_unused]] const int taken = ::open("/dev/null", O_RDONLY);
  }
}

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout && std::ferror(stdout) == 0) return;
  // After an earlier failure nothing may be left to write, and the reason is lost: writing one more
  // byte finds it.
  if (errno == 0 && ::write(STDOUT_FILENO, "\n", 1) == 1) errno = 0;
  const std::string why = errno ? std::string(" (") + std::strerror(errno) + ")" : "";
  throw Error(ErrorCode::kIoError, "standard output: cannot be written" + why);
}

}  // namespace triescope::app

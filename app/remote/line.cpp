#include "app/remote/line.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/trimmed.h"

extern char** environ;

namespace triescope::app {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kKeptErrors = 2000;  // of what a program says on standard error

std::string system_text() { return std::strerror(errno); }

// Reads and writes without blocking on the descriptors alone: shut() wakes both through a pipe.
class DescriptorLine : public Line {
 public:
  DescriptorLine(int in, int out) : in_(in), out_(out) {
    if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0)
      throw Error(ErrorCode::kIoError, "no pipe can be made (" + system_text() + ")");
    ::fcntl(out_, F_SETFL, ::fcntl(out_, F_GETFL) | O_NONBLOCK);
  }
  ~DescriptorLine() override {
    close_ends();
    for (const int end : wake_) ::close(end);
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (!wait_for(out_, POLLOUT)) throw broken();
      const ssize_t sent = send_some(bytes);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) throw broken();
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::string read() override {
    std::string bytes(kReadBytes, '\0');
    while (wait_for(in_, POLLIN)) {
      const ssize_t got = ::read(in_, bytes.data(), bytes.size());
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) break;
      bytes.resize(static_cast<std::size_t>(got));
      return bytes;
    }
    return "";
  }

  void shut() override {
    shut_ = true;
    [[maybe_unused]] const ssize_t woken = ::write(wake_[1], "", 1);
  }

 protected:
  // REQUIRES: no other thread reads or writes.
  void close_ends() {
    if (in_ >= 0) ::close(in_);
    if (out_ >= 0 && out_ != in_) ::close(out_);
    in_ = out_ = -1;
  }

 private:
  static Error broken() { return {ErrorCode::kIoError, "the line is broken"}; }

  // A socket's peer may be gone; that is an error here, and no signal.
  ssize_t send_some(std::string_view bytes) const {
    const ssize_t sent = ::send(out_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) return sent;
    return ::write(out_, bytes.data(), bytes.size());
  }

  // False: the line was shut.
  bool wait_for(int descriptor, short what) const {
    std::array<pollfd, 2> ready = {pollfd{descriptor, what, 0}, pollfd{wake_[0], POLLIN, 0}};
    while (!shut_) {
      const int count = ::poll(ready.data(), ready.size(), -1);
      if (count < 0 && errno == EINTR) continue;
      if (ready[0].revents != 0 && ready[1].revents == 0) return true;
      if (count < 0) return false;
    }
    return false;
  }

  int in_, out_;
  int wake_[2] = {-1, -1};
  std::atomic<bool> shut_{false};
};

// The pipes of a child process. The child gets a moment to end by itself when the line is dropped.
class ProgramLine final : public DescriptorLine {
 public:
  ProgramLine(int in, int out, int errors, pid_t child, Explain explain)
      : DescriptorLine(in, out), child_(child), explain_(std::move(explain)) {
    listener_ = std::thread([this, errors] { listen(errors); });
  }
  ~ProgramLine() override {
    end_child();
    listener_.join();
  }

  std::string why_ended() override {
    const int status = end_child();
    std::string said;
    {
      // A child of the child may keep standard error open.
      std::unique_lock lock(mutex_);
      heard_.wait_for(lock, std::chrono::milliseconds(300), [&] { return heard_all_; });
      said = std::string(trimmed(said_, " \t\r\n"));
    }
    return explain_(WIFEXITED(status) ? WEXITSTATUS(status) : -1, said);
  }

 private:
  void listen(int errors) {
    char buffer[512];
    for (ssize_t got; (got = ::read(errors, buffer, sizeof buffer)) != 0;) {
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) break;
      std::lock_guard lock(mutex_);
      said_.append(buffer, static_cast<std::size_t>(got));
      if (said_.size() > kKeptErrors) said_.erase(0, said_.size() - kKeptErrors);
    }
    ::close(errors);
    std::lock_guard lock(mutex_);
    heard_all_ = true;
    heard_.notify_all();
  }

  // Waits for the child, which sees the end of its input once the line is closed; then makes it.
  int end_child() {
    std::lock_guard lock(child_mutex_);
    if (child_ <= 0) return status_;
    close_ends();
    for (int tries = 0; tries < 40; ++tries) {
      if (::waitpid(child_, &status_, WNOHANG) == child_) {
        child_ = 0;
        return status_;
      }
      if (tries == 20) ::kill(child_, SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &status_, 0);
    child_ = 0;
    return status_;
  }

  std::mutex child_mutex_, mutex_;
  pid_t child_;
  int status_ = 0;
  const Explain explain_;
  std::string said_;
  std::condition_variable heard_;
  bool heard_all_ = false;
  std::thread listener_;
};

}  // namespace

std::optional<Frame> next_frame(Line& line, FrameReader& reader) {
  while (true) {
    if (std::optional<Frame> frame = reader.next()) return frame;
    const std::string bytes = line.read();
    if (bytes.empty()) return {};
    reader.push(bytes);
  }
}

std::unique_ptr<Line> line_over(int in, int out) {
  return std::make_unique<DescriptorLine>(in, out);
}

std::unique_ptr<Line> line_to_program(const std::vector<std::string>& command, Explain explain) {
  int in[2], out[2], errors[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 ||
      ::pipe2(errors, O_CLOEXEC) != 0)
    throw Error(ErrorCode::kIoError, "no pipe can be made (" + system_text() + ")");
  ::signal(SIGPIPE, SIG_IGN);  // a program that is gone is an error of write()
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
  // Ctrl+C at the window's terminal is not meant for the line.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  sigset_t none;  // a thread that waits for signals has blocked them here
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const int end : {in[0], out[1], errors[1]}) ::close(end);
  if (failed != 0) {
    for (const int end : {in[1], out[0], errors[0]}) ::close(end);
    throw Error(failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIoError,
                command.front() + ": cannot be started (" + std::strerror(failed) + ")");
  }
  return std::make_unique<ProgramLine>(out[0], in[1], errors[0], child, std::move(explain));
}

}  // namespace triescope::app

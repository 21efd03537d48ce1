#include "app/remote/session_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <thread>
#include <utility>

#include "app/remote/messages.h"
#include "app/remote/session_folder.h"
#include "core/base/error.h"
#include "core/base/text_file.h"

namespace triescope::app {
namespace {

constexpr int kLookMs = 200;
// However many watch, as a school class may, there is room for those who command.
constexpr std::ptrdiff_t kMaxWatchers = 64, kMaxCommanders = 16;

volatile std::sig_atomic_t end_requested = 0;
void request_end(int) { end_requested = 1; }

std::string refusal_bytes(const std::string& why, bool gone, const std::string& version) {
  return greeting_bytes(
      ServerGreeting{.protocol = kProtocol, .version = version, .refused = why, .gone = gone});
}

// One accepted line, and the thread that serves it.
struct Served {
  std::unique_ptr<Line> line;
  bool watch = false;
  std::atomic<bool> over{false};
  std::thread thread;
};

class Daemon {
 public:
  explicit Daemon(DaemonSetup setup)
      : keep_(setup.keep),
        alone_(setup.stop_when_alone),
        folder_(setup.served.folder),
        version_(setup.served.version),
        sockets_{listen_in(folder_, false), listen_in(folder_, true)},
        session_(std::move(setup.served)) {}
  ~Daemon() {
    session_.shut();
    for (Served& client : clients_) client.thread.join();
    for (const int socket : sockets_) ::close(socket);
    std::error_code ignored;
    for (const char* name : {"command", "watch"}) std::filesystem::remove(folder_ / name, ignored);
  }

  void run() {
    while (end_requested == 0 && !session_.ended() && !is_left()) {
      std::array<pollfd, 2> ready = {pollfd{sockets_[0], POLLIN, 0},
                                     pollfd{sockets_[1], POLLIN, 0}};
      ::poll(ready.data(), ready.size(), kLookMs);
      forget();
      for (std::size_t i = 0; i < ready.size(); ++i)
        if (ready[i].revents != 0) accept(sockets_[i], /*watch=*/i == 1);
    }
  }
  bool ended() const { return session_.ended(); }

 private:
  // Nobody is there, and nobody has been for long.
  bool is_left() const {
    if (alone_ && came_ && clients_.empty()) return true;
    return session_.idle() > keep_;
  }

  void accept(int socket, bool watch) {
    const int descriptor = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    std::unique_ptr<Line> line = line_over(descriptor, descriptor);
    const std::ptrdiff_t there = std::ranges::count(clients_, watch, &Served::watch);
    if (there >= (watch ? kMaxWatchers : kMaxCommanders))
      return refuse(*line, std::to_string(there) + " lines to this session stand already");
    came_ |= !watch;
    Served& client = clients_.emplace_back();
    client.line = std::move(line);
    client.watch = watch;
    client.thread = std::thread([this, &client, watch] {
      session_.serve(*client.line, watch);
      client.over = true;
    });
  }

  // Nothing was written to the line before, so this does not wait.
  void refuse(Line& line, const std::string& why) const {
    try {
      line.write(refusal_bytes(why, /*gone=*/false, version_));
    } catch (const Error&) {
      // Its other end is gone.
    }
  }

  // Drops the lines that are over, which closes them.
  void forget() {
    clients_.remove_if([](Served& client) {
      if (!client.over) return false;
      client.thread.join();
      return true;
    });
  }

  const std::chrono::minutes keep_;
  const bool alone_;
  bool came_ = false;  // a client that commands has been there
  const std::filesystem::path folder_;
  const std::string version_;
  const std::array<int, 2> sockets_;
  ServedSession session_;
  std::list<Served> clients_;
};

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Error(ErrorCode::kIoError, "standard output is closed");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// In the child of a child: becomes the daemon, or ends.
[[noreturn]] void become_daemon(std::vector<char*> arguments, int log) {
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  ::dup2(nothing, 1);
  ::dup2(log, 2);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(127);
}

}  // namespace

void run_daemon(DaemonSetup setup) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGTERM, request_end);
  const std::filesystem::path folder = setup.served.folder;
  const int ready = setup.ready;
  bool ended = false;
  {
    Daemon daemon(std::move(setup));
    if (ready >= 0) {
      write_all(ready, "r");
      ::close(ready);
    }
    daemon.run();
    ended = daemon.ended();
  }
  std::error_code ignored;
  if (ended) std::filesystem::remove_all(folder, ignored);
}

void start_daemon(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kIoError, "the decoder could not be started: " + why);
  };
  const std::string log_path = (folder / "log").string();
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int ready[2];
  if (log < 0 || ::pipe(ready) != 0) fail(std::strerror(errno));
  ::fcntl(ready[0], F_SETFD, FD_CLOEXEC);
  std::vector<std::string> words = {"triescope"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--ready", std::to_string(ready[1])});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) become_daemon(pointers, log);
    ::_exit(0);
  }
  ::close(ready[1]);
  ::close(log);
  if (child < 0) fail(std::strerror(errno));
  ::waitpid(child, nullptr, 0);
  char said = 0;
  ssize_t got = 0;
  while ((got = ::read(ready[0], &said, 1)) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
  if (got == 1) return;
  std::string text;
  try {
    text = read_text_file(log_path, "a log");
  } catch (const Error&) {
  }
  fail(text.empty() ? "it ended at once" : text);
}

void relay(Line& session) {
  std::signal(SIGPIPE, SIG_IGN);
  std::thread up([&] {
    std::string buffer(64 << 10, '\0');
    try {
      for (ssize_t got; (got = ::read(0, buffer.data(), buffer.size())) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        session.write(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
      }
    } catch (const Error&) {
      return;  // the session is gone, and what it said last is read below
    }
    session.shut();
  });
  up.detach();  // it may wait for input that never comes; the process ends below
  try {
    for (std::string bytes; !(bytes = session.read()).empty();) write_all(1, bytes);
  } catch (const Error&) {
    // Nobody reads on.
  }
  ::_exit(0);
}

void refuse_relay(const std::string& why, bool gone, const std::string& version) {
  write_all(1, refusal_bytes(why, gone, version));
}

}  // namespace triescope::app

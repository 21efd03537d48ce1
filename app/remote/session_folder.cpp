#include "app/remote/session_folder.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "app/remote/messages.h"
#include "app/session/folders.h"
#include "core/base/error.h"
#include "core/capture/records.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

// An address through the folder's descriptor: a socket's name may have 107 bytes, a path more.
class SocketPlace {
 public:
  SocketPlace(const fs::path& folder, bool watch)
      : folder_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address_.sun_family = AF_UNIX;
    const std::string path =
        "/proc/self/fd/" + std::to_string(folder_) + (watch ? "/watch" : "/command");
    std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
  }
  ~SocketPlace() {
    if (folder_ >= 0) ::close(folder_);
  }
  SocketPlace(const SocketPlace&) = delete;
  SocketPlace& operator=(const SocketPlace&) = delete;
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static socklen_t size() { return sizeof(sockaddr_un); }

 private:
  int folder_;
  sockaddr_un address_{};
};

int new_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

[[noreturn]] void fail_on(const fs::path& folder, const std::string& what) {
  throw Error(ErrorCode::kIoError,
              folder.string() + ": " + what + " (" + std::strerror(errno) + ")");
}

// Asks a session about itself, as a watcher.
void ask_session(SessionEntry& entry, const std::string& version) {
  const auto line = line_to_session(entry.name, /*watch=*/true);
  entry.lives = true;
  line->write(
      greeting_bytes(ClientGreeting{.protocol = kProtocol, .version = version, .client = "list"}));
  FrameReader reader;
  while (const auto frame = next_frame(*line, reader)) {
    if (frame->kind != FrameKind::kMessage) continue;
    const Told told = read_told(frame->payload);
    if (told.kind != ToldKind::kStatus) continue;
    entry.state = to_string(told.status.state);
    if (told.status.model) entry.model = told.status.model->name;
    if (told.status.run_serial > 0) entry.steps = capture::step_of(told.status.next_tick);
    return;
  }
}

}  // namespace

fs::path served_folder() {
  const fs::path folder = cache_folder() / "served";
  std::error_code ec;
  fs::create_directories(folder, ec);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) fail_on(folder, "this folder cannot be made");
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    throw Error(ErrorCode::kIoError, folder.string() + ": expected a folder of this user");
  if (::chmod(folder.c_str(), 0700) != 0) fail_on(folder, "cannot be closed to others");
  return folder;
}

fs::path session_folder(const std::string& name) {
  constexpr std::size_t kMostLetters = 40;
  if (!is_session_name(name, kMostLetters))
    throw Error(ErrorCode::kInvalidArgument,
                "session: expected a name of a-z, 0-9 and -, found '" + name.substr(0, 60) + "'");
  return served_folder() / name;
}

std::string new_session_name() {
  static constexpr char kLetters[] = "bcdfghjkmnpqrstvwxz23456789";
  std::random_device random;
  std::string name;
  for (int i = 0; i < 8; ++i) name += kLetters[random() % (sizeof kLetters - 1)];
  return name;
}

int listen_in(const fs::path& folder, bool watch) {
  const SocketPlace place(folder, watch);
  std::error_code ignored;
  fs::remove(folder / (watch ? "watch" : "command"), ignored);
  const int socket = new_socket();
  if (socket < 0 || ::bind(socket, place.address(), SocketPlace::size()) != 0 ||
      ::listen(socket, 16) != 0) {
    if (socket >= 0) ::close(socket);
    fail_on(folder, "nothing can listen there");
  }
  return socket;
}

std::unique_ptr<Line> line_to_session(const std::string& name, bool watch) {
  const SocketPlace place(session_folder(name), watch);
  const int socket = new_socket();
  if (socket < 0 || ::connect(socket, place.address(), SocketPlace::size()) != 0) {
    if (socket >= 0) ::close(socket);
    throw Error(ErrorCode::kNotFound,
                "no session '" + name +
                    "' is there: it has ended. `triescope serve --list` names "
                    "those that run");
  }
  return line_over(socket, socket);
}

std::vector<SessionEntry> list_sessions(const std::string& version) {
  std::vector<SessionEntry> entries;
  for (const auto& found : fs::directory_iterator(served_folder())) {
    SessionEntry entry{.name = found.path().filename().string(), .folder = found.path()};
    try {
      ask_session(entry, version);
    } catch (const Error&) {
      // It has ended, or speaks another protocol.
    }
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, &SessionEntry::name);
  return entries;
}

}  // namespace triescope::app

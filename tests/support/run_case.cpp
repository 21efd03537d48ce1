// run_case PROGRAM ARGUMENTS...: runs a case of a test program. Where TRIESCOPE_TEST_SERVERS names a
// folder, the program runs once for all its cases and forks for each (case_server.h). Otherwise, and
// where that fails, it is run as it is. The exit code, or the signal, is the case's.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/case_server.h"

namespace {

using triescope::test::CaseRequest;
using triescope::test::kServeFlag;

// Makes the socket, which takes requests from now on, and runs the program that answers them.
void start_server(const sockaddr_un& address, const char* program) {
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  unlink(address.sun_path);
  if (bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listening, 128) != 0)
    return;
  if (fork() == 0) {
    setsid();
    const int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(nothing, i);
    const std::string flag = kServeFlag + std::to_string(listening);
    execl(program, program, flag.c_str(), nullptr);
    _exit(127);
  }
  close(listening);
}

// A socket connected to the program's server; -1 = none.
int connect_to(const std::string& folder, const char* program) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const char* slash = std::strrchr(program, '/');
  const std::string path = folder + "/" + (slash == nullptr ? program : slash + 1);
  if (path.size() >= sizeof address.sun_path) return -1;
  std::strcpy(address.sun_path, path.c_str());
  // One of the cases that start side by side makes the server.
  const int lock = open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) return -1;
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto connected = [&] {
    return connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  if (connected()) return close(lock), server;
  start_server(address, program);
  const bool serves = connected();
  close(lock);
  return serves ? server : -1;
}

bool send_case(int server, int argc, char** argv) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == nullptr) return false;
  std::string bytes = std::string(folder) + '\0';
  for (int i = 1; i < argc; ++i) bytes += std::string(argv[i]) + '\0';
  for (char** text = environ; *text != nullptr; ++text) bytes += std::string(*text) + '\0';
  CaseRequest request{argc - 1, static_cast<int>(bytes.size())};
  iovec part{&request, sizeof request};
  const int standard[3] = {0, 1, 2};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof standard)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof standard);
  std::memcpy(CMSG_DATA(header), standard, sizeof standard);
  return sendmsg(server, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request) &&
         send(server, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "run_case: expected a test program and its arguments\n");
    return 1;
  }
  const char* folder = std::getenv("TRIESCOPE_TEST_SERVERS");
  const int server = folder == nullptr ? -1 : connect_to(folder, argv[1]);
  int status = 0;
  if (server >= 0 && send_case(server, argc, argv) &&
      recv(server, &status, sizeof status, MSG_WAITALL) == static_cast<ssize_t>(sizeof status)) {
    if (WIFSIGNALED(status)) {
      std::signal(WTERMSIG(status), SIG_DFL);
      kill(getpid(), WTERMSIG(status));
    }
    return WEXITSTATUS(status);
  }
  execv(argv[1], argv + 1);
  std::perror(argv[1]);
  return 1;
}

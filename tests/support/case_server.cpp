#include "tests/support/case_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

namespace triescope::test {
namespace {

constexpr int kIdleMilliseconds = 10'000;

struct Case {
  std::vector<std::string> texts;  // the working folder, the arguments, the environment
  int arguments = 0;
  int standard[3] = {-1, -1, -1};
};

bool receive(int client, Case& one) {
  CaseRequest request{};
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof one.standard)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(client, &message, MSG_WAITALL) != static_cast<ssize_t>(sizeof request)) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof one.standard)) return false;
  std::memcpy(one.standard, CMSG_DATA(header), sizeof one.standard);
  std::string bytes(static_cast<std::size_t>(request.bytes), '\0');
  if (recv(client, bytes.data(), bytes.size(), MSG_WAITALL) != request.bytes) return false;
  for (std::size_t at = 0; at < bytes.size(); at += one.texts.back().size() + 1)
    one.texts.emplace_back(bytes.c_str() + at);
  one.arguments = request.arguments;
  return true;
}

// "NAME=value" of the environment that was given to this program.
std::set<std::string> given_environment() {
  std::ifstream file("/proc/self/environ");
  std::set<std::string> given;
  for (std::string text; std::getline(file, text, '\0');) given.insert(text);
  return given;
}

void set_variable(const std::string& text) {
  if (const std::size_t equals = text.find('='); equals != std::string::npos)
    setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, /*overwrite=*/1);
}

std::vector<std::string> become(Case one) {
  setpgid(0, 0);
  for (int i = 0; i < 3; ++i) {
    dup2(one.standard[i], i);
    close(one.standard[i]);
  }
  if (chdir(one.texts[0].c_str()) != 0) _exit(1);
  // Besides what the case is given, what the program's own initialisers have set.
  const std::set<std::string> given = given_environment();
  std::vector<std::string> own;
  for (char** text = environ; *text != nullptr; ++text)
    if (!given.contains(*text)) own.push_back(*text);
  clearenv();
  const auto environment = one.texts.begin() + 1 + one.arguments;
  std::for_each(environment, one.texts.end(), set_variable);
  std::ranges::for_each(own, set_variable);
  return {one.texts.begin() + 1, environment};
}

// Waits for the case, or ends it where whoever asked for it has gone.
[[noreturn]] void answer(int client, pid_t running) {
  const int ended = static_cast<int>(syscall(SYS_pidfd_open, running, 0));
  if (ended >= 0) {
    pollfd events[] = {{ended, POLLIN, 0}, {client, POLLRDHUP, 0}};
    while (poll(events, 2, -1) < 0) {
    }
    if (events[0].revents == 0) kill(-running, SIGKILL);
  }
  int status = 0;
  waitpid(running, &status, 0);
  [[maybe_unused]] const ssize_t sent = send(client, &status, sizeof status, MSG_NOSIGNAL);
  _exit(0);
}

}  // namespace

std::vector<std::string> serve_cases(int listening) {
  std::signal(SIGCHLD, SIG_IGN);
  pollfd asked{listening, POLLIN, 0};
  while (poll(&asked, 1, kIdleMilliseconds) > 0) {
    const int client = accept(listening, nullptr, nullptr);
    if (client < 0) continue;
    if (fork() == 0) {
      close(listening);
      std::signal(SIGCHLD, SIG_DFL);
      Case one;
      if (!receive(client, one)) _exit(1);
      const pid_t running = fork();
      if (running < 0) _exit(1);
      if (running > 0) answer(client, running);
      close(client);
      return become(std::move(one));
    }
    close(client);
  }
  _exit(0);
}

}  // namespace triescope::test

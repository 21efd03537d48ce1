#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/base/exit.h"
#include "tests/support/sanitized.h"

namespace triescope::test_exit {
namespace {

// Says that it is destroyed.
struct Witness {
  const char* name;
  ~Witness() { std::printf("[%s]", name); }
};

[[noreturn]] void end_with(int code) {
  static const Witness before{"before"};
  skip_library_teardown();
  static const Witness after{"after"};
  std::printf("printed");
  std::cout << " streamed ";
  std::exit(code);
}

TEST_CASE(
    "exit: later objects are destroyed, streams flushed and the code kept; earlier objects stay") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    end_with(3);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(ends[0], part.data(), part.size())) > 0;)
    said.append(part.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(said.find("printed") != std::string::npos);
  CHECK(said.find(" streamed ") != std::string::npos);
  CHECK(said.find("[after]") != std::string::npos);
  CHECK((said.find("[before]") != std::string::npos) == test::kSanitized);
}

}  // namespace
}  // namespace triescope::test_exit

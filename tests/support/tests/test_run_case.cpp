// A case that run_case.cpp runs, in a fork of a program that serves or in a program of its own, ends
// as the case ends.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

namespace triescope::test::test_run_case {
namespace {

namespace fs = std::filesystem;

int parent_of(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  return 0;
}

[[maybe_unused]] const bool kSet = ::setenv("TRIESCOPE_SET_AT_LOAD", "yes", /*overwrite=*/1) == 0;

// The case that is run. It does what the environment asks for.
TEST_CASE("support: asked case" * doctest::skip()) {
  const char* asked = std::getenv("TRIESCOPE_ASKED");
  REQUIRE(asked != nullptr);
  const std::string what = asked;
  std::printf("folder %s, server %d\n", fs::current_path().c_str(), parent_of(getppid()));
  CHECK(std::getenv("TRIESCOPE_SET_AT_LOAD") != nullptr);
  if (what == "skip") TRIESCOPE_SKIP("asked to");
  if (what == "signal") std::raise(SIGKILL);
  CHECK(what == "pass");
}

TEST_CASE("support: case without a check" * doctest::skip()) {}

struct Runner {
  TempDir folder;
  std::string servers;  // "" = every case in a program of its own

  CommandAnswer run(const std::string& asked,
                    const std::string& test_case = "support: asked case") const {
    const fs::path self = fs::read_symlink("/proc/self/exe");
    return run_command("cd '" + folder.path().string() + "' && TRIESCOPE_ASKED=" + asked +
                       (servers.empty() ? " env -u TRIESCOPE_TEST_SERVERS -u TRIESCOPE_SET_AT_LOAD "
                                        : " env -u TRIESCOPE_SET_AT_LOAD TRIESCOPE_TEST_SERVERS='" +
                                              servers + "' ") +
                       "'" + (self.parent_path() / "run_case").string() + "' '" + self.string() +
                       "' --no-skip --test-case='" + test_case + "' 2>&1");
  }
};

// "folder F, server N" of what the case wrote.
std::string said(const CommandAnswer& answer) {
  const std::size_t first = answer.output.find("folder ");
  return answer.output.substr(first, answer.output.find('\n', first) - first);
}

TEST_CASE("support: a case ends as it does in a program of its own, served or not") {
  const TempDir servers;
  for (const std::string& folder : {std::string(), servers.path().string()}) {
    CAPTURE(folder);
    const Runner runner{{}, folder};
    const CommandAnswer passed = runner.run("pass");
    CHECK(passed.status == 0);
    CHECK(said(passed).find("folder " + runner.folder.path().string() + ",") == 0);
    CHECK(runner.run("fail").status == 1);
    CHECK(runner.run("fail").output.find("fail") != std::string::npos);
    CHECK(runner.run("skip").status == 77);
    CHECK(runner.run("signal").status == 128 + SIGKILL);
    CHECK(fs::is_empty(servers.path()) == folder.empty());
  }
}

TEST_CASE("support: a case that checks nothing fails, and says so") {
  const TempDir servers;
  for (const std::string& folder : {std::string(), servers.path().string()}) {
    CAPTURE(folder);
    const CommandAnswer answer = Runner{{}, folder}.run("pass", "support: case without a check");
    CHECK(answer.status == 1);
    CHECK(answer.output.find("the case checked nothing: support: case without a check") !=
          std::string::npos);
  }
}

TEST_CASE("support: cases of a program that serves are forks of one process") {
  const TempDir servers;
  const Runner served{{}, servers.path().string()};
  const std::string first = said(served.run("pass"));
  CHECK(first.find("server") != std::string::npos);
  CHECK(said(served.run("pass")) == first);
}

TEST_CASE("support: a case is run where no server can be made") {
  const Runner nowhere{{}, "/nonexistent"};
  CHECK(nowhere.run("pass").status == 0);
  CHECK(nowhere.run("skip").status == 77);
}

}  // namespace
}  // namespace triescope::test::test_run_case

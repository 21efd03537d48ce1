// Who records a capture, and whether they still do.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/capture/recorder_identity.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace triescope::test {
namespace {

namespace fs = std::filesystem;
using capture::recorder_identity;
using capture::recorder_lives;

// When this process began, in clock ticks after boot: field 22 of its stat (proc(5)).
std::string own_start() {
  const std::string stat = read_file("/proc/self/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

TEST_CASE("recorder: its identity ends in its process and when that began") {
  const std::string identity = recorder_identity();
  CHECK(identity.ends_with(" pid=" + std::to_string(::getpid()) + " start=" + own_start()));
  CHECK(recorder_lives(identity, "/no/such/file"));
  // Another process with the same number.
  CHECK_FALSE(recorder_lives(identity + "0", "/no/such/file"));
  const std::string home = identity.substr(0, identity.find("pid=", identity.find("pidns=") + 6));
  CHECK(identity.starts_with(home + "pid="));
  for (const char* rest : {"", "pid=", "pid= start=", "pid=1x start=1",
                           "pid=999999999 start=", "pid=999999999 start=1"})
    CHECK_FALSE(recorder_lives(home + rest, "/no/such/file"));
}

TEST_CASE("recorder: one that has ended records no more, also before its parent has asked") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string identity = recorder_identity();
    (void)!::write(ends[1], identity.data(), identity.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string identity(1000, '\0');
  const ssize_t size = ::read(ends[0], identity.data(), identity.size());
  REQUIRE(size > 0);
  identity.resize(static_cast<std::size_t>(size));
  ::close(ends[0]);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(recorder_lives(identity, "/no/such/file"));  // a zombie
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(recorder_lives(identity, "/no/such/file"));
}

TEST_CASE("recorder: of another machine, it lives while the file or its log was written lately") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const std::string elsewhere = "boot=another pidns=another pid=1 start=1";
  const auto write_at = [](const std::string& file, std::chrono::seconds ago) {
    std::ofstream(file) << "x";
    fs::last_write_time(file, fs::file_time_type::clock::now() - ago);
  };
  CHECK_FALSE(recorder_lives(elsewhere, path));  // there is no file
  write_at(path, std::chrono::seconds(60));
  CHECK_FALSE(recorder_lives(elsewhere, path));
  write_at(path + "-wal", std::chrono::seconds(0));
  CHECK(recorder_lives(elsewhere, path));
  write_at(path + "-wal", std::chrono::seconds(60));
  CHECK_FALSE(recorder_lives(elsewhere, path));
  write_at(path, std::chrono::seconds(0));
  CHECK(recorder_lives(elsewhere, path));
}

}  // namespace
}  // namespace triescope::test

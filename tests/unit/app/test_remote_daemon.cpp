// The process of a session, and the lines that it takes.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>

#include "app/remote/messages.h"
#include "app/remote/session_daemon.h"
#include "app/remote/session_folder.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/fake_host.h"
#include "tests/unit/app/remote_rig.h"

namespace triescope::app::test_remote_daemon {
namespace {

using test::has;

// A session's process, as far as its lines go, in a thread.
struct Daemon {
  Daemon() {
    ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    std::filesystem::create_directory(session_folder("edge"));
    thread = std::thread([folder = session_folder("edge")] {
      run_daemon({.served = {.name = "edge", .folder = folder, .version = "1", .host = [](auto) {
                               return std::make_unique<FakeHost>();
                             }}});
    });
  }
  ~Daemon() {
    std::unique_ptr<Line> line;
    wait_until([&] {
      line = dial(/*watch=*/false);
      return refused(*line).empty();
    });
    line->write(bytes_of(Ask{.serial = 1, .kind = AskKind::kEnd}));
    while (!line->read().empty()) {
    }
    thread.join();
    CHECK_FALSE(std::filesystem::exists(cache.path() / "triescope/served/edge"));
    ::unsetenv("XDG_CACHE_HOME");
    for (const int number : {SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
  }
  std::unique_ptr<Line> dial(bool watch) const {
    std::unique_ptr<Line> line;
    REQUIRE(wait_until([&] {
      try {
        line = line_to_session("edge", watch);
      } catch (const Error&) {
        // It does not listen yet.
      }
      return line != nullptr;
    }));
    return line;
  }
  // Why this line is refused; "" = it stands.
  std::string refused(Line& line) const {
    try {
      line.write(
          greeting_bytes(ClientGreeting{.protocol = kProtocol, .version = "1", .client = "odd"}));
    } catch (const Error&) {
      // It has ended; why is what it said before.
    }
    FrameReader reader;
    const auto frame = next_frame(line, reader);
    REQUIRE(frame);
    return read_server_greeting(frame->payload).refused;
  }

  test::TempDir cache;
  std::thread thread;
};

TEST_CASE(
    "remote daemon: a session has 64 watchers and 16 lines that command, each by themselves") {
  const Daemon daemon;
  std::vector<std::unique_ptr<Line>> watchers, silent;
  for (int i = 0; i < 64; ++i) {
    watchers.push_back(daemon.dial(/*watch=*/true));
    CHECK(daemon.refused(*watchers.back()).empty());
  }
  CHECK(
      has(daemon.refused(*daemon.dial(/*watch=*/true)), "64 lines to this session stand already"));
  CHECK(daemon.refused(*daemon.dial(/*watch=*/false)).empty());
  // One that leaves makes room.
  watchers.pop_back();
  REQUIRE(wait_until([&] { return daemon.refused(*daemon.dial(/*watch=*/true)).empty(); }));
  // Lines that say nothing take places too.
  const auto fill = [&] {
    while (silent.size() < 16) silent.push_back(daemon.dial(/*watch=*/false));
    return has(daemon.refused(*daemon.dial(/*watch=*/false)), "16 lines");
  };
  REQUIRE(wait_until(fill));
  silent.pop_back();
  REQUIRE(wait_until([&] { return daemon.refused(*daemon.dial(/*watch=*/false)).empty(); }));
}

}  // namespace
}  // namespace triescope::app::test_remote_daemon

// How another machine is reached, and what is said when it is not.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/remote/dial.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_remote_dial {
namespace {

using test::has;
using test::refusal;

TEST_CASE("remote dial: ssh gets one command, quoted for the shell there") {
  const auto words = dial_command({.host = "me@box", .program = "/opt/my tools/tri'escope"}, "abc");
  REQUIRE(words.size() > 4);
  CHECK(words.front() == "ssh");
  CHECK(words[words.size() - 3] == "--");
  CHECK(words[words.size() - 2] == "me@box");
  CHECK(words.back() == "'/opt/my tools/tri'\\''escope' serve --stdio --attach abc");
  CHECK(dial_command({.host = "box"}, "").back() == "triescope serve --stdio");
  CHECK(dial_command({.host = "box", .watch = true}, "abc").back() ==
        "triescope serve --stdio --watch abc");
}

TEST_CASE("remote dial: another command gets its words as they are") {
  const auto words = dial_command({.command = "docker exec -i box", .program = "a b"}, "");
  CHECK(words == std::vector<std::string>{"sh", "-c", "exec docker exec -i box \"$@\"", "sh", "a b",
                                          "serve", "--stdio"});
}

TEST_CASE("remote dial: a host that ssh would take for an option is refused") {
  for (const char* host : {"-oProxyCommand=x", "", "a b", "a\nb"})
    CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { dial_command({.host = host}, ""); }),
              "expected user@host"));
  CHECK(has(refusal(ErrorCode::kInvalidArgument,
                    [] { dial_command({.host = "box", .watch = true}, ""); }),
            "name of a session"));
}

TEST_CASE("remote dial: the reason why there is no line says what to do") {
  const RemotePlace place{.host = "me@box"};
  CHECK(has(explain_end(place, 127, "bash: triescope: command not found"), "--remote-program"));
  CHECK(
      has(explain_end(place, 255, "me@box: Permission denied (publickey)."), "without a question"));
  CHECK(has(explain_end(place, 255, "Host key verification failed."), "look at the key"));
  CHECK(has(explain_end(place, 255, "ssh: connect to host box: Connection refused"),
            "cannot be reached"));
  CHECK(has(explain_end(place, 3, "odd"), "me@box: odd"));
  CHECK(explain_end(place, 0, "").empty());
}

}  // namespace
}  // namespace triescope::app::test_remote_dial

// The stand-in finds what it says it finds: kernels with one fault each, in a program of their own.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/support/command.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using test::CommandAnswer;

// On both streams.
CommandAnswer run(const std::string& kernel) {
  const CommandAnswer answer =
      test::run_command("'" TRIESCOPE_FAULTY_KERNELS "' " + kernel + " 2>&1");
  REQUIRE(answer.status >= 0);
  return answer;
}

bool says(const CommandAnswer& answer, const char* what) {
  return answer.output.find(what) != std::string::npos;
}

TEST_CASE(
    "CUDA stand-in: kernels without a fault give the right result, and no sanitizer objects") {
  for (const char* kernel :
       {"barrier", "warp_barrier", "three_barriers", "idle_warp", "blocks_apart"}) {
    CAPTURE(kernel);
    const CommandAnswer answer = run(kernel);
    CAPTURE(answer.output);
    CHECK(answer.status == 0);
    CHECK(answer.output.empty());
  }
  CHECK(run("another").status == 2);
}

TEST_CASE("CUDA stand-in: threads that do not all meet the same are named") {
  const auto refused = [](const char* kernel, const char* what) {
    CAPTURE(kernel);
    const CommandAnswer answer = run(kernel);
    CAPTURE(answer.output);
    CHECK(answer.status != 0);
    CHECK(says(answer, what));
  };
  refused("lone_barrier",
          "thread 0 waits at a barrier, thread 32 at its end. All threads of a block must meet the "
          "same");
  refused("barrier_in_half_a_warp",
          "thread 0 waits at a barrier, thread 16 at its end. All threads of a warp must meet the "
          "same");
  refused("lone_shuffle",
          "thread 0 waits at a shuffle, thread 16 at its end. All threads of a warp must meet the "
          "same");
}

TEST_CASE("CUDA stand-in: shared memory that nobody wrote holds none of a result") {
  CHECK(run("unwritten_shared").status == 3);
}

TEST_CASE("CUDA stand-in: without a barrier a result is wrong") {
  if (test::kThreadSanitizer)
    TRIESCOPE_SKIP("ThreadSanitizer ends the program with a status of its own");
  for (const char* kernel : {"no_barrier", "two_barriers", "warp_barrier_of_two_warps"}) {
    CAPTURE(kernel);
    CHECK(run(kernel).status == 3);
  }
}

TEST_CASE("CUDA stand-in: ThreadSanitizer sees what nothing keeps apart") {
  if (!test::kThreadSanitizer) TRIESCOPE_SKIP("not built with ThreadSanitizer");
  for (const auto& [name, kernel] :
       {std::pair{"no_barrier", "reverse"}, std::pair{"two_barriers", "reverse_twice"},
        std::pair{"shuffle_for_barrier", "reverse"},
        std::pair{"warp_barrier_of_two_warps", "reverse"},
        std::pair{"blocks_together", "two_blocks"}}) {
    CAPTURE(name);
    const CommandAnswer answer = run(name);
    CAPTURE(answer.output);
    CHECK(answer.status == 66);
    CHECK(says(answer, "WARNING: ThreadSanitizer: data race"));
    CHECK(says(answer, kernel));
  }
}

TEST_CASE("CUDA stand-in: AddressSanitizer sees what lies beyond shared and global memory") {
  if (!test::kAddressSanitizer) TRIESCOPE_SKIP("not built with AddressSanitizer");
  for (const auto& [kernel, what] : {std::pair{"beyond_shared", "use-after-poison"},
                                     std::pair{"beyond_global", "heap-buffer-overflow"}}) {
    CAPTURE(kernel);
    const CommandAnswer answer = run(kernel);
    CAPTURE(answer.output);
    CHECK(answer.status != 0);
    CHECK(says(answer, what));
    CHECK(says(answer, kernel));
  }
}

}  // namespace
}  // namespace triescope::kernels

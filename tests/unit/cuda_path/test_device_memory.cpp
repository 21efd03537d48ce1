// What is free on a GPU, told by a stand-in for it.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/base/host_memory.h"
#include "core/model/cuda_driver.h"
#include "core/model/device_memory.h"

namespace triescope::test::test_device_memory {
namespace {

const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

TEST_CASE("free memory: of the device that is named, -1 where nothing tells") {
  REQUIRE(use_stand_in);
  CHECK(free_device_memory("cuda:0") == -1);
  ::setenv("TRIESCOPE_CUDA_STAND_IN_FREE", "12000000000", 1);
  CHECK(free_device_memory("cuda") == 12'000'000'000);
  CHECK(free_device_memory("cuda:0") == 12'000'000'000);
  for (const char* none : {"cuda:1", "cuda:", "cuda:-1", "cuda:0x", "cudas", "tpu", ""}) {
    CAPTURE(none);
    CHECK(free_device_memory(none) == -1);
  }
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_FREE");
  // The host's own, but for what others take and give back meanwhile.
  const double ratio =
      static_cast<double>(free_device_memory("cpu")) / static_cast<double>(free_host_memory());
  CHECK(ratio > 0.5);
  CHECK(ratio < 2);
}

TEST_CASE("device names: an index, or none") {
  CHECK(cuda_index("cuda") == 0);
  CHECK(cuda_index("cuda:12") == 12);
  CHECK(!cuda_index("cpu"));
  CHECK(!cuda_index("cuda:1 "));
  CHECK(!cuda_index("cuda:99999999999"));
}

}  // namespace
}  // namespace triescope::test::test_device_memory

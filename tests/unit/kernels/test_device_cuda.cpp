// What the CUDA module does beside kernels, on a GPU.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "tests/support/skip.h"
#include "tests/unit/kernels/cuda_place.h"

namespace triescope::kernels {
namespace {

TEST_CASE("CUDA memory on the GPU: page-locked memory of the host is copied from and to") {
  const char* missing = nullptr;
  const CudaModule* gpu = test::answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  constexpr std::size_t kCount = 1000, kBytes = kCount * sizeof(std::int32_t);
  void *from = nullptr, *to = nullptr, *device = nullptr;
  REQUIRE(gpu->host_allocate(&from, kBytes) == 0);
  REQUIRE(gpu->host_allocate(&to, kBytes) == 0);
  REQUIRE(gpu->allocate(&device, kBytes) == 0);
  for (std::size_t i = 0; i < kCount; ++i)
    static_cast<std::int32_t*>(from)[i] = static_cast<std::int32_t>(i * i);
  CHECK(gpu->to_device(device, from, kBytes) == 0);
  CHECK(gpu->to_host(to, device, kBytes) == 0);
  CHECK(std::memcmp(from, to, kBytes) == 0);
  CHECK(gpu->free(device) == 0);
  CHECK(gpu->host_free(to) == 0);
  CHECK(gpu->host_free(from) == 0);
}

TEST_CASE("CUDA memory on the GPU: the device in use is told, and one that is not there refused") {
  const char* missing = nullptr;
  const CudaModule* gpu = test::answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  int before = -1;
  CHECK(gpu->use_device(0, &before) == 0);
  CHECK(before == 0);
  CHECK(gpu->use_device(gpu->device_count(), &before) != 0);
  CHECK(before == 0);
  CHECK(gpu->use_device(0, &before) == 0);
  CHECK(before == 0);
}

}  // namespace
}  // namespace triescope::kernels

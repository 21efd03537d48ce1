// What a driver tells of its GPUs before anything is loaded there, over stand-ins for the driver's two
// libraries. A program of its own, because a process asks the driver once.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "core/model/cuda_driver.h"
#include "core/model/device_memory.h"
#include "core/model/model.h"
#include "core/model/nvml.h"

namespace triescope::test {
namespace {

const bool are_open = dlopen(TRIESCOPE_CUDA_DRIVER_STAND_IN, RTLD_NOW | RTLD_LOCAL) != nullptr &&
                      dlopen(TRIESCOPE_NVML_STAND_IN, RTLD_NOW | RTLD_LOCAL) != nullptr;

TEST_CASE("driver: its GPUs are listed with their memory") {
  REQUIRE(are_open);
  const CudaDriver& driver = ask_cuda_driver();
  REQUIRE(driver.error == "");
  CHECK(driver.version == 13000);
  REQUIRE(driver.devices.size() == 3);
  CHECK(driver.devices[1].name == "GPU B");
  CHECK(driver.devices[1].pci_address == "0000:08:00.0");
  const std::vector<DeviceInfo> devices = list_devices();
  REQUIRE(devices.size() == 4);
  CHECK(devices[2].id == "cuda:1");
  CHECK(devices[2].total_bytes == 80'000'000'000);
}

TEST_CASE("driver: what a GPU has free is known without a context, of each by its own address") {
  CHECK(untouched_device_memory("cuda:0") == 6'000'000'000);
  CHECK(untouched_device_memory("cuda") == 6'000'000'000);
  CHECK(untouched_device_memory("cuda:1") == 20'000'000'000);
}

TEST_CASE("driver: a part of a GPU, one that is not there and the CPU tell nothing so") {
  CHECK(untouched_device_memory("cuda:2") == -1);  // the library counts the whole GPU
  CHECK(untouched_device_memory("cuda:3") == -1);
  CHECK(untouched_device_memory("cpu") > 0);
  CHECK(untouched_device_memory("tpu") == -1);
  CHECK(nvml_free_bytes("", 24'000'000'000) == -1);
  CHECK(nvml_free_bytes("0000:01:00.0", 24'000'000'000) == -1);
}

}  // namespace
}  // namespace triescope::test

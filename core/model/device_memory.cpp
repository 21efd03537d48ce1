#include "core/model/device_memory.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/host_memory.h"
#include "core/kernels/cuda_module.h"
#include "core/model/cuda_driver.h"
#include "core/model/nvml.h"

namespace triescope {

std::int64_t free_device_memory(const std::string& device) {
  if (device == "cpu") return free_host_memory();
  const std::optional<int> index = cuda_index(device);
  const kernels::CudaModule& module = kernels::cuda_module();
  if (!index || !module.available()) return -1;
  std::size_t free = 0, total = 0;
  if (module.memory(*index, &free, &total) != 0) return -1;
  return static_cast<std::int64_t>(free);
}

std::int64_t untouched_device_memory(const std::string& device) {
  if (device == "cpu") return free_host_memory();
  const std::optional<int> index = cuda_index(device);
  const CudaDriver& driver = ask_cuda_driver();
  if (!index || static_cast<std::size_t>(*index) >= driver.devices.size()) return -1;
  const CudaDriver::Device& gpu = driver.devices[static_cast<std::size_t>(*index)];
  return nvml_free_bytes(gpu.pci_address, gpu.total_bytes);
}

std::int64_t kept_in_reserve(const DeviceMemory& memory) {
  return std::max<std::int64_t>(0, memory.reserved_bytes - memory.allocated_bytes);
}

}  // namespace triescope

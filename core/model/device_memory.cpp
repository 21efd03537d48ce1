#include "core/model/device_memory.h"

#include <cstddef>
#include <optional>

#include "core/base/host_memory.h"
#include "core/kernels/cuda_module.h"
#include "core/model/cuda_driver.h"

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

}  // namespace triescope

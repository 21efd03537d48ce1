// How much memory is free on a device, before anything is loaded there; without libtorch.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/model.h"

namespace triescope {

// Bytes free on "cpu", "cuda" or "cuda:N"; -1 where nothing tells: no driver, no such device, no CUDA
// module. What this process's own allocator holds in reserve on a GPU is not free. Asking about a GPU
// makes a context there (device.cuh), so ask about the one that is to be used. Never throws.
std::int64_t free_device_memory(const std::string& device);

// The same without a context on a GPU, for those that are only listed: what the driver's management
// library tells (nvml.h). Never throws.
std::int64_t untouched_device_memory(const std::string& device);

// Of what an allocator of this process took: bytes that another model can have. 0 where there is none.
std::int64_t kept_in_reserve(const DeviceMemory& memory);

}  // namespace triescope

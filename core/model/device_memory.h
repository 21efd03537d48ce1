// How much memory is free on a device before anything is loaded there, without libtorch.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/model.h"

namespace triescope {

// Free bytes on "cpu", "cuda" or "cuda:N"; -1 = unknown: no driver, no such device, or no CUDA
// module. Memory that this process's own allocator holds in reserve on a GPU is not free. The call
// creates a context on a GPU (device.cuh), so ask about the GPU that is going to be used. Never
// throws.
std::int64_t free_device_memory(const std::string& device);

// The same without a context on a GPU, for GPUs that are only listed: the driver's management
// library tells it (nvml.h). Never throws.
std::int64_t untouched_device_memory(const std::string& device);

// Bytes that an allocator of this process took and another model can have; 0 where there is none.
std::int64_t kept_in_reserve(const DeviceMemory& memory);

}  // namespace triescope

// Asks the NVIDIA driver directly (libcuda.so.1, opened at run time) which devices exist, without
// libtorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace triescope {

struct CudaDriver {
  struct Device {
    std::string name;
    std::string pci_address;  // "0000:01:00.0"; "" = unknown
    std::int64_t total_bytes = 0;
  };
  std::string error;  // why there are no devices; empty if there are some
  int version = 0;    // newest CUDA that it supports: 13000 = 13.0
  std::vector<Device> devices;
};

// "cuda" -> 0, "cuda:2" -> 2; nullopt: anything else.
std::optional<int> cuda_index(const std::string& device);

// Never throws. Asks the driver once; later calls return the same answer.
const CudaDriver& ask_cuda_driver();

}  // namespace triescope

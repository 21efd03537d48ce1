// Asks NVIDIA's management library (libnvidia-ml.so.1, opened at run time; it comes with the
// driver) how much memory a GPU has free. That needs no context on the GPU, which would take some
// hundred MB.
#pragma once

#include <cstdint>
#include <string>

namespace triescope {

// Free bytes on the GPU at this PCI address ("0000:01:00.0"). -1 where that is unknown, and where
// the library's total differs from total_bytes, the driver's: an instance of a partitioned GPU
// (MIG) has only a part of the memory at its address. Never throws. Thread-safe.
std::int64_t nvml_free_bytes(const std::string& pci_address, std::int64_t total_bytes);

}  // namespace triescope

// NVIDIA's management library asked directly (libnvidia-ml.so.1, opened at run time; it comes with
// the driver): what a GPU has free, without a context there, which would take some hundred MB.
#pragma once

#include <cstdint>
#include <string>

namespace triescope {

// Bytes free on the GPU at this PCI address ("0000:01:00.0"). -1 where nothing tells, and where the
// library counts another memory than total_bytes, the driver's: an instance of a partitioned GPU
// (MIG) has a part of what its address has. Never throws. Thread-safe.
std::int64_t nvml_free_bytes(const std::string& pci_address, std::int64_t total_bytes);

}  // namespace triescope

#include "core/model/nvml.h"

#include <dlfcn.h>

#include <cstdlib>

namespace triescope {
namespace {

// As in nvml.h (stable across versions; 0 = NVML_SUCCESS).
struct Memory {
  unsigned long long total, free, used;
};
struct Nvml {
  int (*handle)(const char* pci_address, void** device) = nullptr;
  int (*memory)(void* device, Memory* memory) = nullptr;
};

// Opens and initialises the library once and keeps it; the functions are null where it does not
// exist.
Nvml open_nvml() {
  Nvml nvml;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  auto* const init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  Nvml found;
  found.handle =
      reinterpret_cast<decltype(found.handle)>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
  found.memory =
      reinterpret_cast<decltype(found.memory)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
  if (init == nullptr || found.handle == nullptr || found.memory == nullptr || init() != 0)
    return nvml;
  return found;
}

}  // namespace

std::int64_t nvml_free_bytes(const std::string& pci_address, std::int64_t total_bytes) {
  static const Nvml nvml = open_nvml();
  void* device = nullptr;
  Memory memory{};
  if (nvml.handle == nullptr || pci_address.empty() ||
      nvml.handle(pci_address.c_str(), &device) != 0 || nvml.memory(device, &memory) != 0)
    return -1;
  // The driver does not count what it keeps for itself: less than a tenth.
  const auto total = static_cast<std::int64_t>(memory.total);
  if (std::llabs(total - total_bytes) > total_bytes / 10) return -1;
  return static_cast<std::int64_t>(memory.free);
}

}  // namespace triescope

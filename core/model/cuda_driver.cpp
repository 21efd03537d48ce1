#include "core/model/cuda_driver.h"

#include <dlfcn.h>

#include <charconv>
#include <cstddef>
#include <system_error>

namespace triescope {
namespace {

// The part of the driver's interface that is used, as cuda.h declares it (stable across versions; 0
// = CUDA_SUCCESS).
struct Api {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(std::size_t*, int) = nullptr;
  int (*pci_address)(char*, int, int) = nullptr;  // may be null
};

template <typename Function>
bool bind(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  return function != nullptr;
}

CudaDriver ask() {
  CudaDriver driver;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    driver.error = "no NVIDIA driver is installed (libcuda.so.1 was not found)";
    return driver;
  }
  Api api;
  if (!bind(library, "cuInit", api.init) || !bind(library, "cuDriverGetVersion", api.version) ||
      !bind(library, "cuDeviceGetCount", api.count) || !bind(library, "cuDeviceGet", api.get) ||
      !bind(library, "cuDeviceGetName", api.name) ||
      !bind(library, "cuDeviceTotalMem_v2", api.memory)) {
    driver.error = "the NVIDIA driver lacks a function of CUDA 3.2 or newer";
    return driver;
  }
  bind(library, "cuDeviceGetPCIBusId", api.pci_address);
  if (const int code = api.init(0); code != 0) {
    driver.error =
        "the NVIDIA driver found no usable GPU (cuInit returned " + std::to_string(code) + ")";
    return driver;
  }
  api.version(&driver.version);
  int count = 0;
  if (api.count(&count) != 0 || count == 0) {
    driver.error = "the NVIDIA driver reports no GPU";
    return driver;
  }
  for (int i = 0; i < count; ++i) {
    CudaDriver::Device device;
    char name[256] = "";
    int handle = 0;
    std::size_t bytes = 0;
    if (api.get(&handle, i) == 0) {
      api.name(name, sizeof name, handle);
      api.memory(&bytes, handle);
      char address[64] = "";
      if (api.pci_address != nullptr && api.pci_address(address, sizeof address, handle) == 0)
        device.pci_address = address;
    }
    device.name = name;
    device.total_bytes = static_cast<std::int64_t>(bytes);
    driver.devices.push_back(device);
  }
  return driver;
}

}  // namespace

std::optional<int> cuda_index(const std::string& device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  int index = 0;
  const char* end = device.data() + device.size();
  const auto [rest, error] = std::from_chars(device.data() + 5, end, index);
  return error == std::errc() && rest == end && index >= 0 ? std::optional(index) : std::nullopt;
}

const CudaDriver& ask_cuda_driver() {
  static const CudaDriver driver = ask();
  return driver;
}

}  // namespace triescope

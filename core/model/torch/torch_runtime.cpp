#include "core/model/torch/torch_runtime.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/version.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>

#include "core/base/error.h"
#include "core/model/cuda_driver.h"

namespace triescope {
namespace {

// The folder from which libtorch_cpu.so was loaded, with a slash at its end.
std::string torch_folder() {
  std::string folder;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos || !path.substr(slash + 1).starts_with("libtorch_cpu.so"))
          return 0;
        *static_cast<std::string*>(found) = path.substr(0, slash + 1);
        return 1;
      },
      &folder);
  return folder;
}

// Opens the library once and keeps it: libtorch registers its CUDA operations when it is loaded,
// and cannot be unloaded. This must precede any question to libtorch about CUDA, since libtorch
// remembers the answer.
void open_torch_cuda() {
  static std::mutex mutex;
  static bool opened = false;
  const std::lock_guard lock(mutex);
  if (opened) return;
  const std::string path = torch_folder() + "libtorch_cuda.so";
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorCode::kCuda, "device cuda: this libtorch cannot use CUDA (" +
                                      std::string(reason ? reason : path) +
                                      "); run the set-up again on this machine so that it fetches "
                                      "the CUDA libraries, or choose device cpu");
  }
  opened = true;
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return at::kFloat;
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kF16:
      return at::kHalf;
  }
  return at::kFloat;
}

at::Device open_device(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  const std::optional<int> index = cuda_index(name);
  if (!index)
    throw Error(ErrorCode::kInvalidArgument,
                "device: expected cpu, cuda or cuda:N, found '" + name + "'");
  const CudaDriver driver = ask_cuda_driver();
  if (!driver.error.empty())
    throw Error(ErrorCode::kCuda, "device " + name + ": " + driver.error + "; choose device cpu");
  if (*index >= static_cast<int>(driver.devices.size())) {
    throw Error(ErrorCode::kCuda, "device " + name + ": expected cuda:0 to cuda:" +
                                      std::to_string(static_cast<int>(driver.devices.size()) - 1) +
                                      ", the devices that the NVIDIA driver reports");
  }
  open_torch_cuda();
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(*index));
  with_torch_errors(device, [] {
    at::globalContext().lazyInitDevice(at::kCUDA);
    // fp32 means fp32: no TF32 anywhere, and 16-bit products are summed in fp32.
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowBF16ReductionCuBLAS(false);
    at::globalContext().setAllowFP16ReductionCuBLAS(false);
  });
  return device;
}

void with_torch_errors(const at::Device& device, const std::function<void()>& work) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  try {
    work();
  } catch (const Error&) {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw Error(ErrorCode::kOutOfMemory, first_line(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory,
                "the system has no memory left; close something or take a smaller model or KV");
  } catch (const c10::Error& error) {
    const std::string text = first_line(error.what_without_backtrace());
    const bool memory = text.find("out of memory") != std::string::npos ||  // CUDA's own message
                        text.find("not enough memory") != std::string::npos ||
                        text.find("can't allocate memory") != std::string::npos ||
                        text.find("STATUS_ALLOC_FAILED") != std::string::npos;  // cuBLAS
    const ErrorCode code = memory             ? ErrorCode::kOutOfMemory
                           : device.is_cuda() ? ErrorCode::kCuda
                                              : ErrorCode::kInvalidArgument;
    throw Error(code, "libtorch on " + device.str() + ": " + text + cuda_error_advice(text));
  }
}

void on_device(const at::Device& device, const std::function<void()>& work) {
  with_torch_errors(device, [&] {
    const c10::InferenceMode inference;
    const c10::OptionalDeviceGuard guard(device);
    work();
  });
}

void forward_on_device(const at::Device& device, std::size_t rows,
                       const std::function<void()>& work) {
  try {
    on_device(device, work);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    throw Error(ErrorCode::kOutOfMemory,
                "no memory on " + device.str() + " for a forward over " + std::to_string(rows) +
                    " rows (" + error.what() +
                    "); take fewer beams or drafts, a shorter prompt, or a smaller model or dtype");
  }
}

std::string cuda_error_advice(const std::string& text) {
  for (const char* broken : {"illegal memory access", "misaligned address", "device-side assert",
                             "unspecified launch failure"})
    if (text.find(broken) != std::string::npos)
      return "; every further call on a GPU fails now: start triescope again, and report this with "
             "the output of `triescope check --json`";
  for (const char* lost : {"GPU is lost", "fallen off the bus"})
    if (text.find(lost) != std::string::npos)
      return "; the driver has lost the GPU: see `nvidia-smi` and the system's log, and start the "
             "machine again if it stays away";
  if (text.find("driver version is insufficient") != std::string::npos)
    return "; install NVIDIA driver R580 or newer, which serves CUDA 13.0";
  return "";
}

at::Tensor rows_tensor(std::span<const float> values, std::int64_t rows,
                       const at::TensorOptions& options) {
  at::Tensor host = at::empty({rows, static_cast<std::int64_t>(values.size()) / rows}, at::kFloat);
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<float>());
  return host.to(options);
}

std::span<const float> values_of(const at::Tensor& host) {
  if (!host.defined()) return {};
  return {host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel())};
}

at::Tensor index_tensor(std::span<const std::int32_t> values, const at::Device& device) {
  return at::tensor(at::ArrayRef<std::int32_t>(values.data(), values.size()), at::kInt)
      .to(at::kLong)
      .to(device);
}

DeviceMemory allocator_memory(const at::Device& device) {
  if (!device.is_cuda()) return {};
  DeviceMemory memory;
  with_torch_errors(device, [&] {
    const auto stats = at::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    memory.allocated_bytes = stats.allocated_bytes[kAll].current;
    memory.reserved_bytes = stats.reserved_bytes[kAll].current;
  });
  return memory;
}

std::string libtorch_version() { return TORCH_VERSION; }

std::string cuda_version() {
  // Asking libtorch would fix its answer to "no CUDA" for good, so the driver is asked instead.
  const CudaDriver driver = ask_cuda_driver();
  if (!driver.error.empty() || driver.version <= 0) return "";
  return std::to_string(driver.version / 1000) + "." + std::to_string(driver.version % 1000 / 10);
}

}  // namespace triescope

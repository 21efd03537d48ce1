// Helpers around libtorch: opening its CUDA half at run time, devices, versions, and its errors as
// ours. The program links only libtorch_cpu and libc10; libtorch_cuda.so is opened from their
// folder when a CUDA device is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/kernels/aten.h"
#include "core/model/model.h"

namespace triescope {

at::ScalarType scalar_type(DType dtype);

// "cpu", "cuda", "cuda:N" -> device; opens libtorch_cuda.so for the latter two. Errors:
// kInvalidArgument (the name), kCuda (no driver, no such device, a libtorch without CUDA).
at::Device open_device(const std::string& name);

// Runs `work` and turns what libtorch throws into Error (kOutOfMemory, kCuda for CUDA devices, else
// kInvalidArgument).
void with_torch_errors(const at::Device& device, const std::function<void()>& work);

// Runs `work` in the way that all work on a device runs: in inference mode, with the device's guard
// and with_torch_errors.
void on_device(const at::Device& device, const std::function<void()>& work);

// The same for a model's forward over `rows` rows: if memory runs out, the error says what takes
// less.
void forward_on_device(const at::Device& device, std::size_t rows,
                       const std::function<void()>& work);

// Advice after an error that CUDA describes with `text`, as "; ..."; "" = none. After some of these
// errors every later call of the process fails.
std::string cuda_error_advice(const std::string& text);

// Copies fp32 from the host into memory of its own on a device: [rows, values / rows], in options'
// dtype.
at::Tensor rows_tensor(std::span<const float> values, std::int64_t rows,
                       const at::TensorOptions& options);

// The values of a contiguous fp32 tensor on the host; empty if it is undefined.
std::span<const float> values_of(const at::Tensor& host);

// Indices for index_select and index_copy_: int64 on the device.
at::Tensor index_tensor(std::span<const std::int32_t> values, const at::Device& device);

DeviceMemory allocator_memory(const at::Device& device);

}  // namespace triescope

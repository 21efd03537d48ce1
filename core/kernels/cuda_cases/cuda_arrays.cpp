#include "core/kernels/cuda_cases/cuda_arrays.h"

#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/files/half.h"

namespace triescope::kernels {

std::size_t size_of_dtype(int dtype) { return dtype == kTriescopeF32 ? 4 : 2; }

const char* name_of_dtype(int dtype) {
  return dtype == kTriescopeF32 ? "f32" : dtype == kTriescopeF16 ? "f16" : "bf16";
}

Bytes encode(Floats& values, int dtype) {
  Bytes bytes(values.size() * size_of_dtype(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == kTriescopeF32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
      continue;
    }
    const std::uint16_t bits =
        dtype == kTriescopeF16 ? formats::float_to_f16(values[i]) : float_to_bf16(values[i]);
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
    values[i] = dtype == kTriescopeF16 ? formats::f16_to_float(bits) : bf16_to_float(bits);
  }
  return bytes;
}

Floats decode(const Bytes& bytes, int dtype) {
  Floats values(bytes.size() / size_of_dtype(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == kTriescopeF32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
      continue;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    values[i] = dtype == kTriescopeF16 ? formats::f16_to_float(bits) : bf16_to_float(bits);
  }
  return values;
}

Floats in_dtype(Floats values, int dtype) {
  encode(values, dtype);
  return values;
}

CudaArrays::~CudaArrays() {
  for (void* array : arrays_) module_.free(array);
}

void* CudaArrays::put(const void* values, std::size_t bytes) {
  void* array = nullptr;
  check(module_.allocate(&array, (bytes + 31) / 16 * 16));
  arrays_.push_back(array);
  check(module_.to_device(array, values, bytes));
  return array;
}

void* CudaArrays::put(const Floats& values, int dtype) {
  Floats copy = values;
  return put(encode(copy, dtype));
}

Bytes CudaArrays::get(const void* array, std::size_t bytes) const {
  Bytes out(bytes);
  check(module_.to_host(out.data(), array, bytes));
  return out;
}

void CudaArrays::check(int code) const {
  constexpr int kNoMemory = 2;  // cudaErrorMemoryAllocation
  if (code != 0)
    throw Error(code == kNoMemory ? ErrorCode::kOutOfMemory : ErrorCode::kCuda,
                module_.error_string(code));
}

}  // namespace triescope::kernels

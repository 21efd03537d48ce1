// Arrays in a CUDA device's memory, and numbers as a kernel's dtypes lay them out there. For the
// cases of kernel_case.h. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/kernels/cuda_module.h"

namespace triescope::kernels {

using Floats = std::vector<float>;
using Bytes = std::vector<unsigned char>;

std::size_t size_of_dtype(int dtype);     // bytes; dtype: TriescopeCudaDType
const char* name_of_dtype(int dtype);     // "f32", "f16", "bf16"
Bytes encode(Floats& values, int dtype);  // rounds the values too
Floats decode(const Bytes& bytes, int dtype);
// Rounded as a tensor of that dtype holds it.
Floats in_dtype(Floats values, int dtype);

// Owns what it allocates on the current device. Errors of all functions: kOutOfMemory where the
// device has no memory, kCuda with the driver's words for any other.
class CudaArrays {
 public:
  explicit CudaArrays(const CudaModule& module) : module_(module) {}
  CudaArrays(const CudaArrays&) = delete;
  CudaArrays& operator=(const CudaArrays&) = delete;
  ~CudaArrays();

  void* put(const void* values, std::size_t bytes);
  void* put(const Bytes& bytes) { return put(bytes.data(), bytes.size()); }
  void* put(const Floats& values, int dtype);
  // Filled with bytes that no result has.
  void* room(std::size_t bytes) { return put(Bytes(bytes, 0xee)); }
  // An argument of fp32 or slots; null where there are none.
  template <class T>
  T* list(const std::vector<T>& values) {
    return values.empty() ? nullptr
                          : static_cast<T*>(put(values.data(), values.size() * sizeof(T)));
  }
  Bytes get(const void* array, std::size_t bytes) const;
  Floats get(const void* array, std::size_t count, int dtype) const {
    return decode(get(array, count * size_of_dtype(dtype)), dtype);
  }
  template <class T>
  std::vector<T> numbers(const void* array, std::size_t count) const {
    const Bytes bytes = get(array, count * sizeof(T));
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  void check(int code) const;

  const CudaModule& module_;
  std::vector<void*> arrays_;
};

}  // namespace triescope::kernels

// Where a CUDA kernel is tested: its source over host memory (the stand-in), or the module's on a
// GPU; and how far results may lie apart. Include before the .cu files.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "core/kernels/cuda_module.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/unit/kernels/cuda_dtypes.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels::test {

using Floats = std::vector<float>;

inline constexpr int kDTypes[] = {kTriescopeF32, kTriescopeF16, kTriescopeBF16};
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Where a kernel runs: its source over host memory, or the module's on a GPU.
class Place {
 public:
  explicit Place(const CudaModule* gpu = nullptr) : gpu_(gpu) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    for (void* p : owned_) gpu_ != nullptr ? static_cast<void>(gpu_->free(p)) : std::free(p);
  }

  void* put(const void* values, std::size_t bytes) {
    void* p = nullptr;
    const std::size_t room = (bytes + 31) / 16 * 16;
    if (gpu_ == nullptr) {
      p = std::aligned_alloc(16, room);
      std::memcpy(p, values, bytes);
    } else {
      REQUIRE(gpu_->allocate(&p, room) == 0);
      REQUIRE(gpu_->to_device(p, values, bytes) == 0);
    }
    owned_.push_back(p);
    return p;
  }
  void* put(const Bytes& bytes) { return put(bytes.data(), bytes.size()); }
  // What fp32 arguments and slots are: null where there are none.
  template <class V>
  const V* list(const std::vector<V>& values) {
    return values.empty() ? nullptr
                          : static_cast<V*>(put(values.data(), values.size() * sizeof(V)));
  }
  Bytes get(const void* p, std::size_t bytes) const {
    Bytes out(bytes);
    if (gpu_ == nullptr) {
      std::memcpy(out.data(), p, bytes);
    } else {
      REQUIRE(gpu_->to_host(out.data(), p, bytes) == 0);
    }
    return out;
  }

  // The source's launcher or the module's, with a cudaError_t.
  template <class Call>
  int launch(int (*source)(const Call*, void*), int (*CudaModule::*module)(const Call*, void*),
             const Call& call) const {
    return gpu_ != nullptr ? (gpu_->*module)(&call, nullptr) : source(&call, nullptr);
  }

 private:
  const CudaModule* gpu_;
  std::vector<void*> owned_;
};

// Rounded as a tensor of that dtype holds it.
inline Floats in_dtype(Floats values, int dtype) {
  encode(values, dtype);
  return values;
}

// One rounding of the dtype, relative; in fp32 the tolerance of the contracts.
inline double relative(int dtype, double fp32) {
  return dtype == kTriescopeF32 ? fp32 : dtype == kTriescopeF16 ? 0x1p-10 : 0x1p-7;
}

// How far `got` is from `want`, in allowed distances: `fraction` of a value, or `least`.
inline double distance(const Floats& got, const Floats& want, double fraction, double least) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = std::max(std::fabs(double{want[i]}) * fraction, least);
    const double off = std::fabs(double{got[i]} - want[i]) / allowed;
    if (std::isnan(off)) return INFINITY;
    worst = std::max(worst, off);
  }
  return worst;
}

inline bool all_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

inline bool any_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

// Each change alone makes a good call one that is refused: what the contract's checks exclude.
template <class Call, class... Changes>
void check_refused(int (*launch)(const Call*, void*), const Call& good, Changes... changes) {
  const auto one = [&](auto change) {
    Call call = good;
    change(call);
    CHECK(launch(&call, nullptr) == cudaErrorInvalidValue);
  };
  ::cuda_stand_in::launches.clear();
  (one(changes), ...);
  CHECK(::cuda_stand_in::launches.empty());
}

// The module where a GPU answers, else null with the reason in `missing`.
inline const CudaModule* answering_gpu(const char*& missing) {
  const CudaModule& gpu = cuda_module();
  missing = !gpu.available()          ? "the CUDA module is not built"
            : gpu.device_count() == 0 ? "no CUDA device answers"
                                      : nullptr;
  return missing == nullptr ? &gpu : nullptr;
}

}  // namespace triescope::kernels::test

// The CUDA kernel in the middle of the MLP against its CPU twin:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/gated_activation.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

constexpr int kKinds[] = {kTriescopeSilu, kTriescopeGeluTanh, kTriescopeGelu};

void check_activation(const CudaModule* gpu) {
  Rng rng(17);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 8, 576, 1023, 2056, 4104}) {
      for (const int kind : kKinds) {
        for (const auto& [rows, gated] : {std::pair{1, true}, {3, true}, {2, false}}) {
          ActivationInputs c = ActivationInputs::random(rows, dim, gated, kind, dtype, rng);
          c.in[0] = -40.0f;
          CAPTURE(dtype);
          CAPTURE(dim);
          check_case(std::move(c), gpu);
        }
      }
    }
  }
}

void check_activation_nan(const CudaModule* gpu) {
  for (const int kind : kKinds) {
    CAPTURE(kind);
    ActivationInputs c;
    c.rows = 2;
    c.dim = 3;
    c.kind = kind;
    c.in = {1, kNaN, -2, 1, 2, 3, 4, 5, 6, 7, 8, kNaN};  // gates, then ups, of each row
    CudaArrays on(module_of(gpu));
    const Floats out = on.get(launched(c, on, module_of(gpu)).out, 6, c.dtype);
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK(std::isnan(out[i]) == (i == 1 || i == 5));
    }
  }
}

TEST_CASE(
    "CUDA gated activation: CUDA activation, its source run on the CPU, agrees with the CPU twin") {
  check_activation(nullptr);
}

TEST_CASE(
    "CUDA gated activation: CUDA activation, its source run on the CPU: a NaN stays a NaN, alone") {
  check_activation_nan(nullptr);
}

TEST_CASE(
    "CUDA gated activation: CUDA activation refuses what its contract excludes and launches nothing") {
  alignas(16) float memory[64] = {};
  TriescopeGatedActivation act = {};
  act.in = memory;
  act.out = memory + 32;
  act.rows = 1;
  act.dim = 4;
  using A = TriescopeGatedActivation;
  check_refused(
      triescope_cuda_gated_activation, act, [](A& c) { c.rows = 0; }, [](A& c) { c.rows = 65536; },
      [](A& c) { c.dim = 0; }, [](A& c) { c.kind = -1; }, [](A& c) { c.kind = 3; },
      [](A& c) { c.in = nullptr; }, [](A& c) { c.out = nullptr; },
      [](A& c) { c.in = static_cast<const float*>(c.in) + 1; },
      [](A& c) { c.out = static_cast<float*>(c.out) + 1; }, [](A& c) { c.dtype = -1; },
      [](A& c) { c.dtype = 3; });
  CHECK(triescope_cuda_gated_activation(&act, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "gated_activation\n");
}

TEST_CASE(
    "CUDA gated activation: CUDA activation on the GPU agrees with the CPU twin and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_activation(gpu);
  check_activation_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels

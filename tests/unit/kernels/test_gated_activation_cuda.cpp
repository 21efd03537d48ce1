// The CUDA kernel in the middle of the MLP against its CPU twin:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "core/kernels/activation.h"
#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/gated_activation.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

Bytes run_activation(const Floats& in, int rows, int dim, bool gated, int kind, int dtype,
                     const CudaModule* gpu) {
  Place place(gpu);
  Floats values = in;
  const Bytes bytes = encode(values, dtype);
  TriescopeGatedActivation call = {};
  call.in = place.put(bytes);
  const std::size_t size = bytes.size() / (gated ? 2 : 1);
  call.out = place.put(Bytes(size, 0xee));
  call.rows = rows;
  call.dim = dim;
  call.gated = gated;
  call.kind = kind;
  call.dtype = dtype;
  REQUIRE(place.launch(triescope_cuda_gated_activation, &CudaModule::gated_activation, call) == 0);
  return place.get(call.out, size);
}

constexpr std::pair<int, ActivationKind> kKinds[] = {
    {kTriescopeSilu, ActivationKind::kSilu},
    {kTriescopeGeluTanh, ActivationKind::kGeluTanh},
    {kTriescopeGelu, ActivationKind::kGelu}};

void check_activation(const CudaModule* gpu) {
  Rng rng(17);
  ThreadPool pool(1);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 8, 576, 1023, 2056, 4104}) {
      for (const auto& [kind, twin] : kKinds) {
        for (const auto& [rows, gated] : {std::pair{1, true}, {3, true}, {2, false}}) {
          const std::int64_t width = (gated ? 2 : 1) * dim;
          Floats in = in_dtype(test::random_values(rows * width, rng, 4.0f), dtype);
          in[0] = -40.0f;
          Floats act(static_cast<std::size_t>(rows * dim));
          for (int r = 0; r < rows; ++r)
            std::copy_n(in.begin() + r * width, dim, act.begin() + std::ptrdiff_t{r} * dim);
          activation(twin, act.data(), dim, rows, dim, pool);
          act = in_dtype(act, dtype);
          for (int r = 0; r < rows && gated; ++r) {
            for (int i = 0; i < dim; ++i)
              act[static_cast<std::size_t>(r * dim + i)] *=
                  in[static_cast<std::size_t>(r * width + dim + i)];
          }
          act = in_dtype(act, dtype);
          const Floats got = decode(run_activation(in, rows, dim, gated, kind, dtype, gpu), dtype);
          CAPTURE(dtype);
          CAPTURE(dim);
          CAPTURE(kind);
          CAPTURE(gated);
          // Two roundings in fp16 and bf16; times `up`, below 18 here, in the least distance.
          CHECK(distance(got, act, 2 * relative(dtype, 2e-6), 18e-6) <= 1);
        }
      }
    }
  }
}

void check_activation_nan(const CudaModule* gpu) {
  for (const auto& [kind, twin] : kKinds) {
    CAPTURE(kind);
    // Gates, then ups, of two rows of three.
    const Floats in = {1, kNaN, -2, 1, 2, 3, 4, 5, 6, 7, 8, kNaN};
    const Floats out =
        decode(run_activation(in, 2, 3, true, kind, kTriescopeF32, gpu), kTriescopeF32);
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK(std::isnan(out[i]) == (i == 1 || i == 5));
    }
  }
}

TEST_CASE("CUDA activation, its source run on the CPU, agrees with the CPU twin") {
  check_activation(nullptr);
}

TEST_CASE("CUDA activation, its source run on the CPU: a NaN stays a NaN, alone") {
  check_activation_nan(nullptr);
}

TEST_CASE("CUDA activation refuses what its contract excludes and launches nothing") {
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

TEST_CASE("CUDA activation on the GPU agrees with the CPU twin and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_activation(gpu);
  check_activation_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels

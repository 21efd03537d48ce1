// The CUDA kernel that adds to the residual stream and normalises it, against the CPU twins:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/add_norm.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

struct Normed {
  Bytes x, out;
  bool operator==(const Normed&) const = default;
};

Normed run(const AddNormInputs& c, const CudaModule* gpu) {
  CudaArrays on(module_of(gpu));
  const TriescopeAddNorm call = launched(c, on, module_of(gpu));
  const std::size_t bytes = c.x.size() * size_of_dtype(c.dtype);
  return {on.get(call.x, bytes), on.get(call.out, bytes)};
}

void check_add_norm(const CudaModule* gpu) {
  Rng rng(11);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 8, 33, 64, 576, 1023, 2056, 4104}) {
      for (const auto& [rows, h, post] :
           {std::tuple{1, false, false}, {3, true, false}, {2, true, true}}) {
        for (const bool layer : {false, true}) {
          CAPTURE(dtype);
          CAPTURE(dim);
          CAPTURE(rows);
          CAPTURE(layer);
          CAPTURE(post);
          check_case(AddNormInputs::random(rows, dim, dtype, layer, h, post, rng), gpu);
        }
      }
    }
  }
}

void check_add_norm_alone(const CudaModule* gpu) {
  Rng rng(12);
  for (const int dim : {576, 1023}) {
    const AddNormInputs all =
        AddNormInputs::random(33, dim, kTriescopeBF16, false, true, true, rng);
    const Normed together = run(all, gpu);
    for (const int row : {0, 16, 32}) {
      AddNormInputs one = all;
      one.rows = 1;
      one.x.assign(all.x.begin() + row * dim, all.x.begin() + (row + 1) * dim);
      one.h.assign(all.h.begin() + row * dim, all.h.begin() + (row + 1) * dim);
      const Normed alone = run(one, gpu);
      const auto part = [&](const Bytes& bytes) {
        return Bytes(bytes.begin() + row * dim * 2, bytes.begin() + (row + 1) * dim * 2);
      };
      CAPTURE(dim);
      CAPTURE(row);
      CHECK(alone == Normed{part(together.x), part(together.out)});
    }
  }
}

void check_add_norm_nan(const CudaModule* gpu) {
  Rng rng(13);
  for (const bool layer : {false, true}) {
    for (const bool post : {false, true}) {
      AddNormInputs c = AddNormInputs::random(3, 40, kTriescopeF32, layer, true, post, rng);
      c.h[40 + 17] = kNaN;
      const Normed got = run(c, gpu);
      const Floats x = decode(got.x, c.dtype), out = decode(got.out, c.dtype);
      CAPTURE(layer);
      CAPTURE(post);
      CHECK(std::isnan(x[40 + 17]));
      CHECK(std::isnan(x[40]) == post);
      CHECK(all_nan(out, 40, 40));
      CHECK(!any_nan(out, 0, 40));
      CHECK(!any_nan(out, 80, 40));
    }
  }
}

TEST_CASE(
    "CUDA add norm: CUDA add and norm, its source run on the CPU, agrees with the CPU twins") {
  check_add_norm(nullptr);
}

TEST_CASE(
    "CUDA add norm: CUDA add and norm, its source run on the CPU: a row alone has the bits it has in company") {
  check_add_norm_alone(nullptr);
}

TEST_CASE(
    "CUDA add norm: CUDA add and norm, its source run on the CPU: a NaN makes its row NaN and no other") {
  check_add_norm_nan(nullptr);
}

TEST_CASE(
    "CUDA add norm: CUDA add and norm refuses what its contract excludes and launches nothing") {
  alignas(16) float memory[64] = {};
  TriescopeAddNorm norm = {};
  norm.x = memory;
  norm.h = memory + 8;
  norm.weight = memory + 16;
  norm.out = memory + 24;
  norm.rows = 1;
  norm.dim = 4;
  using N = TriescopeAddNorm;
  check_refused(
      triescope_cuda_add_norm, norm, [](N& c) { c.rows = 0; }, [](N& c) { c.dim = 0; },
      [](N& c) { c.eps = -1; }, [](N& c) { c.eps = kNaN; }, [](N& c) { c.x = nullptr; },
      [](N& c) { c.out = nullptr; }, [](N& c) { c.weight = nullptr; },
      [](N& c) { c.x = static_cast<float*>(c.x) + 1; },
      [](N& c) { c.h = static_cast<const float*>(c.h) + 1; },
      [](N& c) { c.out = static_cast<float*>(c.out) + 1; }, [](N& c) { c.dtype = -1; },
      [](N& c) { c.dtype = 3; });
  CHECK(triescope_cuda_add_norm(&norm, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "add_norm\n");
}

TEST_CASE(
    "CUDA add norm: CUDA add and norm on the GPU agrees with the CPU twins, row by row, and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_add_norm(gpu);
  check_add_norm_alone(gpu);
  check_add_norm_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels

// The CUDA kernel that begins a forward, against the kernels it stands for (rows of blocks, add and
// norm) bit for bit, and against the CPU twins: its own source on the CPU (always), and the module's
// on a GPU where one answers.
#include <doctest/doctest.h>

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "core/files/dequantise.h"
#include "core/files/random_blocks.h"
#include "core/kernels/norm.h"
#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/embed_norm.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;
using formats::GgmlType;

struct Embedded {
  Bytes x, out;
  bool operator==(const Embedded&) const = default;
};

Embedded run(const EmbedNormInputs& c, const CudaModule* gpu) {
  CudaArrays on(module_of(gpu));
  const TriescopeEmbedNorm call = launched(c, on, module_of(gpu));
  const std::size_t bytes = c.ids.size() * static_cast<std::size_t>(c.dim) * size_of_dtype(c.dtype);
  return {on.get(call.x, bytes), on.get(call.out, bytes)};
}

// What add_norm makes of x.
Bytes added_norm(const EmbedNormInputs& c, const Bytes& x, const CudaModule* gpu) {
  AddNormInputs norm;
  norm.rows = static_cast<int>(c.ids.size());
  norm.dim = c.dim;
  norm.dtype = c.dtype;
  norm.layer = c.layer;
  norm.eps = c.eps;
  norm.x = decode(x, c.dtype);
  norm.weight = c.weight;
  norm.bias = c.bias;
  CudaArrays on(module_of(gpu));
  return on.get(launched(norm, on, module_of(gpu)).out, x.size());
}

void check_one(const EmbedNormInputs& c, const CudaModule* gpu) {
  const Embedded got = run(c, gpu);
  CHECK(got.out == added_norm(c, got.x, gpu));
  check_case(c, gpu);
}

void check_dense(const CudaModule* gpu) {
  Rng rng(41);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 64, 576, 1023, 2056, 4104}) {
      for (const auto& [layer, positions, scale] : {std::tuple{false, false, 1.0f},
                                                    {false, false, 33.94f},
                                                    {true, true, 1.0f},
                                                    {false, true, 0.37f}}) {
        CAPTURE(dtype);
        CAPTURE(dim);
        CAPTURE(layer);
        CAPTURE(scale);
        check_one(EmbedNormInputs::random(dim, dtype, -1, layer, positions, scale, rng), gpu);
      }
    }
  }
}

void check_blocks(const CudaModule* gpu) {
  Rng rng(42);
  for (const GgmlType type : kernel_block_types()) {
    for (const int dtype : kDTypes) {
      for (const int dim : {256, 9 * 256}) {  // more units than threads
        CAPTURE(formats::to_string(type));
        CAPTURE(dtype);
        CAPTURE(dim);
        const bool scaled = dim > 256;
        check_one(EmbedNormInputs::random(dim, dtype, static_cast<int>(type), false, scaled,
                                          scaled ? 0.37f : 1.0f, rng),
                  gpu);
      }
    }
  }
}

void check_alone(const CudaModule* gpu) {
  Rng rng(43);
  const EmbedNormInputs all =
      EmbedNormInputs::random(520, kTriescopeBF16, -1, false, true, 3.7f, rng);
  const Embedded together = run(all, gpu);
  for (std::size_t row = 0; row < all.ids.size(); ++row) {
    EmbedNormInputs one = all;
    one.ids = {all.ids[row]};
    one.positions = {all.positions[row]};
    const Embedded alone = run(one, gpu);
    const auto part = [&](const Bytes& bytes) {
      const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(row) * 520 * 2;
      return Bytes(at, at + 520 * 2);
    };
    CAPTURE(row);
    CHECK(alone == Embedded{part(together.x), part(together.out)});
  }
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm, its source run on the CPU: dense rows, scaled, with positions") {
  check_dense(nullptr);
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm, its source run on the CPU: rows of every block type") {
  check_blocks(nullptr);
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm, its source run on the CPU: a row alone has the same bits") {
  check_alone(nullptr);
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm, its source run on the CPU: a NaN stays in its row") {
  Rng rng(44);
  EmbedNormInputs c = EmbedNormInputs::random(40, kTriescopeF32, -1, false, false, 1, rng);
  c.table[static_cast<std::size_t>(c.ids[1]) * 40 + 17] = kNaN;
  const Embedded got = run(c, nullptr);
  const Floats out = decode(got.out, c.dtype);
  CHECK(!any_nan(out, 0, 40));
  CHECK(all_nan(out, 40, 40));
  CHECK(!any_nan(out, 80, 80));
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm refuses what its contract excludes and launches nothing") {
  alignas(16) float memory[256] = {};
  std::int32_t id = 0;
  TriescopeEmbedNorm good = {};
  good.table = memory;
  good.type = -1;
  good.ids = good.positions = &id;
  good.position_table = memory + 64;
  good.scale = 1;
  good.weight = memory;
  good.x = memory + 128;
  good.out = memory + 192;
  good.rows = 1;
  good.dim = 32;
  using E = TriescopeEmbedNorm;
  check_refused(
      triescope_cuda_embed_norm, good, [](E& c) { c.rows = 0; }, [](E& c) { c.dim = 0; },
      [](E& c) { c.eps = -1; }, [](E& c) { c.eps = kNaN; }, [](E& c) { c.type = -2; },
      [](E& c) { c.type = 1000; }, [](E& c) { c.table = nullptr; }, [](E& c) { c.ids = nullptr; },
      [](E& c) { c.positions = nullptr; }, [](E& c) { c.weight = nullptr; },
      [](E& c) { c.x = nullptr; }, [](E& c) { c.out = nullptr; },
      [](E& c) { c.table = static_cast<const float*>(c.table) + 1; },
      [](E& c) { c.x = static_cast<float*>(c.x) + 1; },
      [](E& c) { c.out = static_cast<float*>(c.out) + 1; },
      [](E& c) { c.position_table = static_cast<const float*>(c.position_table) + 1; },
      [](E& c) { c.dtype = -1; }, [](E& c) { c.dtype = 3; },
      [](E& c) {
        c.type = static_cast<int>(GgmlType::kQ4_K);  // 32 values are not a block
      },
      [](E& c) {
        c.type = static_cast<int>(GgmlType::kQ8_0);
        c.table = reinterpret_cast<const char*>(c.table) + 1;
      });
  CHECK(triescope_cuda_embed_norm(&good, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "embed_norm\n");
}

TEST_CASE(
    "CUDA embed norm: CUDA embedding and norm on the GPU has the bits of the kernels it stands for") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_dense(gpu);
  check_blocks(gpu);
  check_alone(gpu);
}

}  // namespace
}  // namespace triescope::kernels

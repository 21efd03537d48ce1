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
#include "core/kernels/linear.h"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;
using formats::GgmlType;

constexpr int kVocab = 11, kContext = 9;

struct EmbedNorm {
  int dim = 1, dtype = kTriescopeF32, type = -1;
  bool layer = false;
  float scale = 1, eps = 1e-5f;
  std::vector<std::int32_t> ids, positions;
  Floats table, position_table, weight, bias;  // empty: none
  std::vector<std::byte> blocks;
};

struct Embedded {
  Bytes x, out;
  bool operator==(const Embedded&) const = default;
};

EmbedNorm random_embed_norm(int dim, int dtype, int type, bool layer, bool positions, float scale,
                            Rng& rng) {
  EmbedNorm c;
  c.dim = dim;
  c.dtype = dtype;
  c.type = type;
  c.layer = layer;
  c.scale = scale;
  c.ids = {3, kVocab - 1, 0, 3};
  c.positions = {0, kContext - 1, 4, 5};
  if (type < 0) {
    c.table = in_dtype(random_values(kVocab * dim, rng, 2.0f), dtype);
  } else {
    c.blocks = formats::random_rows(static_cast<GgmlType>(type), kVocab, dim, rng);
    c.table = in_dtype(formats::dequantised(static_cast<GgmlType>(type), c.blocks), dtype);
  }
  if (positions) c.position_table = in_dtype(random_values(kContext * dim, rng), dtype);
  c.weight = random_values(dim, rng);
  if (layer) c.bias = random_values(dim, rng);
  return c;
}

Embedded run(const EmbedNorm& c, const CudaModule* gpu) {
  Place place(gpu);
  Floats table = c.table, positions = c.position_table;
  const std::size_t bytes =
      c.ids.size() * static_cast<std::size_t>(c.dim) * (c.dtype == kTriescopeF32 ? 4 : 2);
  TriescopeEmbedNorm call = {};
  call.table =
      c.type < 0 ? place.put(encode(table, c.dtype)) : place.put(c.blocks.data(), c.blocks.size());
  call.type = c.type;
  call.ids = place.list(c.ids);
  if (!positions.empty()) call.position_table = place.put(encode(positions, c.dtype));
  call.positions = place.list(c.positions);
  call.scale = c.scale;
  call.weight = place.list(c.weight);
  call.bias = place.list(c.bias);
  call.x = place.put(Bytes(bytes, 0xee));
  call.out = place.put(Bytes(bytes, 0xee));
  call.rows = static_cast<std::int32_t>(c.ids.size());
  call.dim = c.dim;
  call.eps = c.eps;
  call.layer_norm = c.layer;
  call.dtype = c.dtype;
  REQUIRE(place.launch(triescope_cuda_embed_norm, &CudaModule::embed_norm, call) == 0);
  return {place.get(call.x, bytes), place.get(call.out, bytes)};
}

// x by the definition, each step rounded.
Floats stream(const EmbedNorm& c) {
  const auto dim = static_cast<std::size_t>(c.dim);
  const float scale = in_dtype({c.scale}, c.dtype)[0];
  Floats x;
  for (std::size_t row = 0; row < c.ids.size(); ++row) {
    for (std::size_t i = 0; i < dim; ++i) {
      float v = c.table[static_cast<std::size_t>(c.ids[row]) * dim + i];
      if (c.scale != 1) v = in_dtype({v * scale}, c.dtype)[0];
      if (!c.position_table.empty())
        v += c.position_table[static_cast<std::size_t>(c.positions[row]) * dim + i];
      x.push_back(v);
    }
  }
  return in_dtype(x, c.dtype);
}

// What add_norm makes of x.
Bytes added_norm(const EmbedNorm& c, const Bytes& x, const CudaModule* gpu) {
  Place place(gpu);
  TriescopeAddNorm call = {};
  call.x = place.put(x);
  call.weight = place.list(c.weight);
  call.bias = place.list(c.bias);
  call.out = place.put(Bytes(x.size(), 0xee));
  call.rows = static_cast<std::int32_t>(c.ids.size());
  call.dim = c.dim;
  call.eps = c.eps;
  call.layer_norm = c.layer;
  call.dtype = c.dtype;
  REQUIRE(place.launch(triescope_cuda_add_norm, &CudaModule::add_norm, call) == 0);
  return place.get(call.out, x.size());
}

Floats twin(const EmbedNorm& c) {
  ThreadPool pool(1);
  const Floats x = stream(c);
  Floats out(x.size());
  const Rows rows{static_cast<std::int64_t>(c.ids.size()), c.dim};
  if (c.layer) {
    layer_norm(x.data(), c.dim, rows, c.weight.data(), c.bias.data(), c.eps, out.data(), c.dim,
               pool);
  } else {
    rms_norm(x.data(), c.dim, rows, c.weight.data(), c.eps, false, out.data(), c.dim, pool);
  }
  return in_dtype(out, c.dtype);
}

void check_one(const EmbedNorm& c, const CudaModule* gpu) {
  const Embedded got = run(c, gpu);
  CHECK(decode(got.x, c.dtype) == stream(c));
  CHECK(got.out == added_norm(c, got.x, gpu));
  const double fraction = relative(c.dtype, c.layer ? 1e-5 : 2e-6);
  CHECK(distance(decode(got.out, c.dtype), twin(c), fraction, 1e-5) <= 1);
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
        check_one(random_embed_norm(dim, dtype, -1, layer, positions, scale, rng), gpu);
      }
    }
  }
}

void check_blocks(const CudaModule* gpu) {
  Rng rng(42);
  for (const GgmlType type : kernels::PackedLinear::types()) {
    if (formats::block_elements(type) == 1) continue;
    for (const int dtype : kDTypes) {
      for (const int dim : {256, 9 * 256}) {  // more units than threads
        CAPTURE(formats::to_string(type));
        CAPTURE(dtype);
        CAPTURE(dim);
        const bool scaled = dim > 256;
        check_one(random_embed_norm(dim, dtype, static_cast<int>(type), false, scaled,
                                    scaled ? 0.37f : 1.0f, rng),
                  gpu);
      }
    }
  }
}

void check_alone(const CudaModule* gpu) {
  Rng rng(43);
  const EmbedNorm all = random_embed_norm(520, kTriescopeBF16, -1, false, true, 3.7f, rng);
  const Embedded together = run(all, gpu);
  for (std::size_t row = 0; row < all.ids.size(); ++row) {
    EmbedNorm one = all;
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
    "CUDA embedding and norm, its source run on the CPU: dense rows, scaled, with positions") {
  check_dense(nullptr);
}

TEST_CASE("CUDA embedding and norm, its source run on the CPU: rows of every block type") {
  check_blocks(nullptr);
}

TEST_CASE("CUDA embedding and norm, its source run on the CPU: a row alone has the same bits") {
  check_alone(nullptr);
}

TEST_CASE("CUDA embedding and norm, its source run on the CPU: a NaN stays in its row") {
  Rng rng(44);
  EmbedNorm c = random_embed_norm(40, kTriescopeF32, -1, false, false, 1, rng);
  c.table[static_cast<std::size_t>(c.ids[1]) * 40 + 17] = kNaN;
  const Embedded got = run(c, nullptr);
  const Floats out = decode(got.out, c.dtype);
  CHECK(!any_nan(out, 0, 40));
  CHECK(all_nan(out, 40, 40));
  CHECK(!any_nan(out, 80, 80));
}

TEST_CASE("CUDA embedding and norm refuses what its contract excludes and launches nothing") {
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

TEST_CASE("CUDA embedding and norm on the GPU has the bits of the kernels it stands for") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_dense(gpu);
  check_blocks(gpu);
  check_alone(gpu);
}

}  // namespace
}  // namespace triescope::kernels

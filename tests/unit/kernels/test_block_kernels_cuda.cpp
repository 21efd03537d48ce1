// The CUDA kernels that compute from GGUF blocks, against formats::dequantise: their own source on
// the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/files/random_blocks.h"
#include "core/kernels/cuda_module.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/support/skip.h"
#include "tests/unit/kernels/cuda_place.h"
#include "tests/unit/kernels/random_values.h"
// After the stand-in: the kernels themselves.
#include "core/kernels/block_linear.cu"
#include "core/kernels/block_rows.cu"
#include "core/kernels/linear.h"

namespace triescope::kernels {
namespace {

using formats::GgmlType;
using test::module_of;

// Those of block_linear: blocks, and dense weights of 16 bits with an x of their own dtype.
std::vector<GgmlType> linear_types() {
  std::vector<GgmlType> types = kernel_block_types();
  types.insert(types.end(), {GgmlType::kF16, GgmlType::kBF16});
  return types;
}

// y of a call, rows without gaps.
Bytes linear(const CudaModule* gpu, GgmlType type, const std::vector<std::byte>& blocks,
             std::int64_t outputs, std::int64_t inputs, const Bytes& x, int x_dtype,
             std::int64_t rows, int y_dtype) {
  BlockLinearInputs call{.type = type,
                         .outputs = static_cast<int>(outputs),
                         .inputs = static_cast<int>(inputs),
                         .rows = static_cast<int>(rows),
                         .x_dtype = x_dtype,
                         .y_dtype = y_dtype,
                         .stored = blocks,
                         .x = decode(x, x_dtype),
                         .bias = {}};
  CudaArrays on(module_of(gpu));
  return on.get(test::launched(call, on, module_of(gpu)).y,
                static_cast<std::size_t>(rows * outputs) * size_of_dtype(y_dtype));
}

void check_rows_have_the_bits_of_dequantise(const CudaModule* gpu) {
  Rng rng(31);
  for (const GgmlType type : kernel_block_types()) {
    const std::int64_t n = 7, k = 3 * 256;
    const auto blocks = formats::random_rows(type, n, k, rng);
    std::vector<float> want = formats::dequantised(type, blocks);
    for (const int dtype : {kTriescopeF32, kTriescopeF16, kTriescopeBF16}) {
      CAPTURE(formats::to_string(type));
      CAPTURE(dtype);
      std::vector<float> rounded = want;
      const Bytes all = encode(rounded, dtype);
      const std::size_t row_bytes = static_cast<std::size_t>(k) * size_of_dtype(dtype), gap = 16;
      const BlockRowsInputs in{.type = type,
                               .rows = static_cast<int>(n),
                               .inputs = static_cast<int>(k),
                               .dtype = dtype,
                               .stored = blocks};
      test::check_case(in, gpu);
      CudaArrays on(module_of(gpu));
      TriescopeBlockRows call = in.put(on, module_of(gpu));

      // Chosen rows, with room between them that stays as it was.
      const std::vector<std::int32_t> ids = {6, 0, 3, 3, 5};
      const Bytes untouched(ids.size() * (row_bytes + gap), 0xa5);
      call.rows = static_cast<std::int32_t>(ids.size());
      call.ids = on.list(ids);
      call.out = on.put(untouched);
      call.out_stride = k + static_cast<std::int64_t>(gap / size_of_dtype(dtype));
      REQUIRE(module_of(gpu).block_rows(&call, nullptr) == 0);
      Bytes expected;
      for (const std::int32_t id : ids) {
        const auto row = all.begin() + id * static_cast<std::int64_t>(row_bytes);
        expected.insert(expected.end(), row, row + static_cast<std::ptrdiff_t>(row_bytes));
        expected.insert(expected.end(), gap, 0xa5);
      }
      CHECK(on.get(call.out, untouched.size()) == expected);
    }
  }
}

struct Extent {
  std::vector<std::int64_t> inputs_of_32, inputs_of_256, outputs;
  std::vector<std::int64_t> rows;
};

void check_products(const CudaModule* gpu, const Extent& extent) {
  Rng rng(32);
  int turn = 0;
  for (const GgmlType type : linear_types()) {
    const bool small = formats::block_elements(type) <= 32;
    for (const std::int64_t k : small ? extent.inputs_of_32 : extent.inputs_of_256) {
      for (const std::int64_t n : extent.outputs) {
        const auto blocks = formats::random_rows(type, n, k, rng);
        const int x_dtype = type == GgmlType::kF16    ? int{kTriescopeF16}
                            : type == GgmlType::kBF16 ? int{kTriescopeBF16}
                                                      : turn % 3;
        const int y_dtype = turn % 2 == 0 ? x_dtype : kTriescopeF32;
        const std::int64_t rows = extent.rows[static_cast<std::size_t>(turn) % extent.rows.size()];
        const bool with_bias = turn++ % 4 < 2;
        CAPTURE(k);
        CAPTURE(n);
        CAPTURE(x_dtype);
        CAPTURE(y_dtype);
        test::check_case(
            BlockLinearInputs::random(type, blocks, static_cast<int>(n), static_cast<int>(k),
                                      static_cast<int>(rows), x_dtype, y_dtype, with_bias, rng),
            gpu);
      }
    }
  }
}

// All rows at once, the rows one by one, and an output's row of W alone: the same bits.
void check_path_only(const CudaModule* gpu, const std::vector<std::int64_t>& counts) {
  Rng rng(33);
  for (const GgmlType type : linear_types()) {
    if (type == GgmlType::kF16) continue;  // like BF16, which is the dtype of x here
    const std::int64_t n = 9, k = 1280;    // units for a thread: two, for some one
    const auto blocks = formats::random_rows(type, n, k, rng);
    const auto one_row = static_cast<std::ptrdiff_t>(blocks.size()) / n;
    auto x = random_values(16 * k, rng, 0.02f);
    const Bytes in = encode(x, kTriescopeBF16);
    const auto rows_of = [&](std::int64_t first, std::int64_t count) {
      return Bytes(in.begin() + first * k * 2, in.begin() + (first + count) * k * 2);
    };
    Bytes alone;
    for (std::int64_t r = 0; r < 16; ++r) {
      const Bytes y =
          linear(gpu, type, blocks, n, k, rows_of(r, 1), kTriescopeBF16, 1, kTriescopeF32);
      alone.insert(alone.end(), y.begin(), y.end());
    }
    CAPTURE(formats::to_string(type));
    for (const std::int64_t rows : counts) {
      CAPTURE(rows);
      const Bytes y = linear(gpu, type, blocks, n, k, rows_of(16 - rows, rows), kTriescopeBF16,
                             rows, kTriescopeF32);
      CHECK(y == Bytes(alone.end() - rows * n * 4, alone.end()));
    }
    for (const std::ptrdiff_t o : {std::ptrdiff_t{0}, std::ptrdiff_t{6}, std::ptrdiff_t{8}}) {
      const std::vector<std::byte> output(blocks.begin() + o * one_row,
                                          blocks.begin() + (o + 1) * one_row);
      const Bytes y =
          linear(gpu, type, output, 1, k, rows_of(0, 1), kTriescopeBF16, 1, kTriescopeF32);
      CAPTURE(o);
      CHECK(y == Bytes(alone.begin() + o * 4, alone.begin() + (o + 1) * 4));
    }
  }
}

TEST_CASE(
    "CUDA block kernels: CUDA block rows, their source run on the CPU: the bits of formats::dequantise") {
  CHECK(kernel_block_types() ==
        std::vector(cuda::DeviceBlocks::kTypes.begin(), cuda::DeviceBlocks::kTypes.end()));
  check_rows_have_the_bits_of_dequantise(nullptr);
}

TEST_CASE(
    "CUDA block kernels: CUDA block linear, its source run on the CPU, is the product of dequantised weights") {
  check_products(nullptr, {.inputs_of_32 = {32, 96, 1056},
                           .inputs_of_256 = {256, 768, 1280},
                           .outputs = {1, 3, 13},
                           .rows = {1, 2, 4, 5, 8, 9, 16}});
}

TEST_CASE(
    "CUDA block kernels: CUDA block linear, its source run on the CPU: a row's bits depend on that row alone") {
  check_path_only(nullptr, {2, 3, 5, 8, 9, 16});
}

TEST_CASE("CUDA block kernels: CUDA block linear writes its columns and nothing beside them") {
  Rng rng(34);
  CudaArrays place(module_of(nullptr));
  const std::int64_t n = 5, k = 64, rows = 3;
  const auto blocks = formats::random_rows(GgmlType::kQ4_1, n, k, rng);
  auto x = random_values(rows * (k + 8), rng, 0.02f);
  const std::vector<float> sevens(static_cast<std::size_t>(rows * 11), 7.0f);
  float* out = place.list(sevens);
  const TriescopeBlockLinear call{.blocks = place.put(blocks.data(), blocks.size()),
                                  .type = static_cast<std::int32_t>(GgmlType::kQ4_1),
                                  .outputs = static_cast<std::int32_t>(n),
                                  .inputs = static_cast<std::int32_t>(k),
                                  .rows = static_cast<std::int32_t>(rows),
                                  .x = place.list(x),
                                  .x_stride = k + 8,
                                  .x_dtype = kTriescopeF32,
                                  .y_dtype = kTriescopeF32,
                                  .bias = nullptr,
                                  .y = out + 2,
                                  .y_stride = 11};
  REQUIRE(triescope_cuda_block_linear(&call, nullptr) == 0);
  const std::vector<float> y = decode(place.get(out, sevens.size() * 4), kTriescopeF32);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Bytes row(reinterpret_cast<const unsigned char*>(x.data() + r * (k + 8)),
                    reinterpret_cast<const unsigned char*>(x.data() + r * (k + 8) + k));
    std::vector<float> want = {7.0f, 7.0f};
    for (const float v : decode(
             linear(nullptr, GgmlType::kQ4_1, blocks, n, k, row, kTriescopeF32, 1, kTriescopeF32),
             kTriescopeF32))
      want.push_back(v);
    want.resize(11, 7.0f);
    CHECK(std::vector<float>(y.begin() + r * 11, y.begin() + (r + 1) * 11) == want);
  }
}

TEST_CASE("CUDA block kernels: they refuse what their contracts exclude and launch nothing") {
  alignas(64) static unsigned char blocks[4 * 144 + 16];
  alignas(64) static float x[2 * 260], y[2 * 8];
  const auto offset = [](void* at, int bytes) {
    return static_cast<void*>(static_cast<unsigned char*>(at) + bytes);
  };
  const auto q4_k = static_cast<std::int32_t>(GgmlType::kQ4_K);
  const TriescopeBlockLinear product{.blocks = blocks,
                                     .type = q4_k,
                                     .outputs = 3,
                                     .inputs = 256,
                                     .rows = 2,
                                     .x = x,
                                     .x_stride = 256,
                                     .x_dtype = kTriescopeF32,
                                     .y_dtype = kTriescopeF32,
                                     .bias = nullptr,
                                     .y = y,
                                     .y_stride = 3};
  CHECK(triescope_cuda_block_linear(&product, nullptr) == cudaSuccess);
  using L = TriescopeBlockLinear;
  const auto refused = [&](auto L::*member, auto... values) {
    test::check_refused(&triescope_cuda_block_linear, product,
                        [&](L& call) { call.*member = values; }...);
  };
  refused(&L::blocks, nullptr, offset(blocks, 2));
  refused(&L::type, -1, 0, 1, 30, 99);  // F32; F16 and BF16, which want an x of their own dtype
  refused(&L::outputs, 0, -1, 4);       // 4: longer than y's stride
  refused(&L::inputs, 0, -256, 32, 128, 288);
  refused(&L::rows, 0, -1, 17);
  refused(&L::x, nullptr, offset(x, 8));
  refused(&L::x_stride, 252, 258);
  refused(&L::x_dtype, -1, 3);
  refused(&L::y_dtype, -1, 3);
  refused(&L::y, nullptr);
  refused(&L::y_stride, 2, 0);

  alignas(64) static float rows[3 * 256];
  const TriescopeBlockRows gather{.blocks = blocks,
                                  .type = q4_k,
                                  .rows = 3,
                                  .inputs = 256,
                                  .dtype = kTriescopeF32,
                                  .ids = nullptr,
                                  .out = rows,
                                  .out_stride = 256};
  CHECK(triescope_cuda_block_rows(&gather, nullptr) == cudaSuccess);
  using R = TriescopeBlockRows;
  const auto not_gathered = [&](auto R::*member, auto... values) {
    test::check_refused(&triescope_cuda_block_rows, gather,
                        [&](R& call) { call.*member = values; }...);
  };
  not_gathered(&R::blocks, nullptr, offset(blocks, 2));
  not_gathered(&R::type, -1, 0, 1, 30, 99);
  not_gathered(&R::rows, 0, -1);
  not_gathered(&R::inputs, 0, -256, 32, 128, 288);
  not_gathered(&R::dtype, -1, 3);
  not_gathered(&R::out, nullptr, offset(rows, 8));
  not_gathered(&R::out_stride, 252, 258);
}

TEST_CASE("CUDA block kernels: they take blocks on any address that the type's blocks have") {
  Rng rng(35);
  for (const GgmlType type : kernel_block_types()) {
    const int align = formats::block_bytes(type) % 4 == 0 ? 4 : 2;
    const auto blocks = formats::random_rows(type, 2, 256, rng);
    std::vector<std::byte> moved(static_cast<std::size_t>(align));
    moved.insert(moved.end(), blocks.begin(), blocks.end());
    CudaArrays place(module_of(nullptr));
    auto* at = static_cast<unsigned char*>(place.put(moved.data(), moved.size()));
    TriescopeBlockRows call{.blocks = at + align,
                            .type = static_cast<std::int32_t>(type),
                            .rows = 2,
                            .inputs = 256,
                            .dtype = kTriescopeF32,
                            .ids = nullptr,
                            .out = place.put(Bytes(2 * 256 * 4)),
                            .out_stride = 256};
    CAPTURE(formats::to_string(type));
    REQUIRE(triescope_cuda_block_rows(&call, nullptr) == 0);
    CHECK(decode(place.get(call.out, 2 * 256 * 4), kTriescopeF32) ==
          formats::dequantised(type, blocks));
    call.blocks = at + align / 2;
    CHECK(triescope_cuda_block_rows(&call, nullptr) == cudaErrorInvalidValue);
  }
}

TEST_CASE("CUDA block kernels on the GPU: products, bits of rows, path only") {
  const char* missing = nullptr;
  const CudaModule* gpu = test::answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_rows_have_the_bits_of_dequantise(gpu);
  check_products(gpu, {.inputs_of_32 = {32, 96, 1056, 4096},
                       .inputs_of_256 = {256, 768, 1280, 4096},
                       .outputs = {1, 3, 13, 257},
                       .rows = {1, 2, 4, 5, 8, 9, 16}});
  check_path_only(gpu, {2, 3, 5, 8, 9, 16});
}

}  // namespace
}  // namespace triescope::kernels

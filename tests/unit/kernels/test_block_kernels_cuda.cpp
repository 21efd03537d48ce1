// The CUDA kernels that compute from GGUF blocks, against formats::dequantise: their own source on
// the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "core/formats/random_blocks.h"
#include "core/kernels/cuda_module.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/support/sanitized.h"
#include "tests/unit/kernels/device_values.h"
#include "tests/unit/kernels/random_values.h"
// After the stand-in: the kernels themselves.
#include "core/kernels/block_linear.cu"
#include "core/kernels/block_rows.cu"

namespace triescope::kernels {
namespace {

using formats::GgmlType;
using test::random_values;

std::vector<GgmlType> block_types() {
  std::vector<GgmlType> types;
  for (const GgmlType type : formats::stored_types())
    if (formats::block_elements(type) > 1) types.push_back(type);
  return types;
}

// The kernels with host memory in place of a GPU's.
CudaModule stand_in() {
  CudaModule module;
  module.block_linear = &triescope_cuda_block_linear;
  module.block_rows = &triescope_cuda_block_rows;
  module.allocate = [](void** pointer, std::size_t bytes) {
    *pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *pointer == nullptr ? 2 : 0;
  };
  module.free = [](void* pointer) {
    std::free(pointer);
    return 0;
  };
  module.to_device = [](void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
  };
  module.to_host = [](void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
  };
  return module;
}

// Bytes on the device.
class Placed {
 public:
  Placed(const CudaModule& module, const void* from, std::size_t bytes)
      : module_(module), bytes_(bytes) {
    REQUIRE(module_.allocate(&at_, std::max<std::size_t>(bytes, 16)) == 0);
    REQUIRE(module_.to_device(at_, from, bytes) == 0);
  }
  template <class T>
  Placed(const CudaModule& module, const std::vector<T>& values)
      : Placed(module, values.data(), values.size() * sizeof(T)) {}
  Placed(const Placed&) = delete;
  ~Placed() { module_.free(at_); }
  void* at() const { return at_; }
  Bytes read() const {
    Bytes bytes(bytes_);
    REQUIRE(module_.to_host(bytes.data(), at_, bytes_) == 0);
    return bytes;
  }

 private:
  const CudaModule& module_;
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

std::size_t bytes_of(int dtype) { return dtype == kTriescopeF32 ? 4 : 2; }

// y of a call, rows without gaps.
Bytes linear(const CudaModule& module, GgmlType type, const std::vector<std::byte>& blocks,
             std::int64_t outputs, std::int64_t inputs, const Bytes& x, int x_dtype,
             std::int64_t rows, int y_dtype, const Bytes& bias = {}) {
  const Placed weights(module, blocks), in(module, x), add(module, bias);
  const Placed out(module, Bytes(static_cast<std::size_t>(rows * outputs) * bytes_of(y_dtype)));
  const TriescopeBlockLinear call{
      .blocks = weights.at(),
      .type = static_cast<std::int32_t>(type),
      .outputs = static_cast<std::int32_t>(outputs),
      .inputs = static_cast<std::int32_t>(inputs),
      .rows = static_cast<std::int32_t>(rows),
      .x = in.at(),
      .x_stride = inputs,
      .x_dtype = x_dtype,
      .y_dtype = y_dtype,
      .bias = bias.empty() ? nullptr : add.at(),
      .y = out.at(),
      .y_stride = outputs,
  };
  REQUIRE(module.block_linear(&call, nullptr) == 0);
  return out.read();
}

void check_rows_have_the_bits_of_dequantise(const CudaModule& module) {
  Rng rng(31);
  for (const GgmlType type : block_types()) {
    const std::int64_t n = 7, k = 3 * 256;
    const auto blocks = formats::random_rows(type, n, k, rng);
    std::vector<float> want = formats::dequantised(type, blocks);
    for (const int dtype : {kTriescopeF32, kTriescopeF16, kTriescopeBF16}) {
      CAPTURE(formats::to_string(type));
      CAPTURE(dtype);
      std::vector<float> rounded = want;
      const Bytes all = encode(rounded, dtype);
      const std::size_t row_bytes = static_cast<std::size_t>(k) * bytes_of(dtype), gap = 16;
      const Placed weights(module, blocks);
      TriescopeBlockRows call{.blocks = weights.at(),
                              .type = static_cast<std::int32_t>(type),
                              .rows = static_cast<std::int32_t>(n),
                              .inputs = static_cast<std::int32_t>(k),
                              .dtype = dtype,
                              .ids = nullptr,
                              .out = nullptr,
                              .out_stride = k};
      const Placed out(module, Bytes(all.size()));
      call.out = out.at();
      REQUIRE(module.block_rows(&call, nullptr) == 0);
      CHECK(out.read() == all);

      // Chosen rows, with room between them that stays as it was.
      const std::vector<std::int32_t> ids = {6, 0, 3, 3, 5};
      const Placed chosen(module, ids);
      const Placed apart(module, Bytes(ids.size() * (row_bytes + gap), 0xa5));
      call.rows = static_cast<std::int32_t>(ids.size());
      call.ids = static_cast<const std::int32_t*>(chosen.at());
      call.out = apart.at();
      call.out_stride = k + static_cast<std::int64_t>(gap / bytes_of(dtype));
      REQUIRE(module.block_rows(&call, nullptr) == 0);
      Bytes expected;
      for (const std::int32_t id : ids) {
        const auto row = all.begin() + id * static_cast<std::int64_t>(row_bytes);
        expected.insert(expected.end(), row, row + static_cast<std::ptrdiff_t>(row_bytes));
        expected.insert(expected.end(), gap, 0xa5);
      }
      CHECK(apart.read() == expected);
    }
  }
}

struct Extent {
  std::vector<std::int64_t> inputs_of_32, inputs_of_256, outputs;
  std::vector<std::int64_t> rows;
};

// What y may be off by: sums of products, then y's own rounding.
double tolerance(double sum_of_magnitudes, double y, int y_dtype) {
  const double own = y_dtype == kTriescopeF32 ? 0 : y_dtype == kTriescopeF16 ? 5e-4 : 4e-3;
  return 5e-7 * sum_of_magnitudes + own * std::fabs(y) + 1e-7;
}

void check_products(const CudaModule& module, const Extent& extent) {
  Rng rng(32);
  int turn = 0;
  for (const GgmlType type : block_types()) {
    const bool small = formats::block_elements(type) == 32;
    for (const std::int64_t k : small ? extent.inputs_of_32 : extent.inputs_of_256) {
      for (const std::int64_t n : extent.outputs) {
        const auto blocks = formats::random_rows(type, n, k, rng);
        const std::vector<float> w = formats::dequantised(type, blocks);
        const int x_dtype = turn % 3, y_dtype = turn % 2 == 0 ? x_dtype : kTriescopeF32;
        const std::int64_t rows = extent.rows[static_cast<std::size_t>(turn) % extent.rows.size()];
        const bool with_bias = turn++ % 4 < 2;
        auto x = random_values(rows * k, rng, 0.02f), bias = random_values(n, rng, 100.0f);
        const Bytes x_bytes = encode(x, x_dtype), bias_bytes = encode(bias, x_dtype);
        const std::vector<float> y = decode(linear(module, type, blocks, n, k, x_bytes, x_dtype,
                                                   rows, y_dtype, with_bias ? bias_bytes : Bytes()),
                                            y_dtype);
        CAPTURE(formats::to_string(type));
        CAPTURE(k);
        CAPTURE(n);
        CAPTURE(rows);
        CAPTURE(x_dtype);
        CAPTURE(y_dtype);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t o = 0; o < n; ++o) {
            double sum = with_bias ? bias[static_cast<std::size_t>(o)] : 0.0;
            double magnitudes = std::fabs(sum);
            for (std::int64_t i = 0; i < k; ++i) {
              const double product = double{x[static_cast<std::size_t>(r * k + i)]} *
                                     w[static_cast<std::size_t>(o * k + i)];
              sum += product;
              magnitudes += std::fabs(product);
            }
            const double difference = std::fabs(y[static_cast<std::size_t>(r * n + o)] - sum);
            CAPTURE(r);
            CAPTURE(o);
            REQUIRE(difference <= tolerance(magnitudes, sum, y_dtype));
          }
        }
      }
    }
  }
}

// All rows at once, the rows one by one, and an output's row of W alone: the same bits.
void check_path_only(const CudaModule& module, const std::vector<std::int64_t>& counts) {
  Rng rng(33);
  for (const GgmlType type : block_types()) {
    const std::int64_t n = 9, k = 1280;  // units for a thread: two, for some one
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
          linear(module, type, blocks, n, k, rows_of(r, 1), kTriescopeBF16, 1, kTriescopeF32);
      alone.insert(alone.end(), y.begin(), y.end());
    }
    CAPTURE(formats::to_string(type));
    for (const std::int64_t rows : counts) {
      CAPTURE(rows);
      const Bytes y = linear(module, type, blocks, n, k, rows_of(16 - rows, rows), kTriescopeBF16,
                             rows, kTriescopeF32);
      CHECK(y == Bytes(alone.end() - rows * n * 4, alone.end()));
    }
    for (const std::ptrdiff_t o : {std::ptrdiff_t{0}, std::ptrdiff_t{6}, std::ptrdiff_t{8}}) {
      const std::vector<std::byte> output(blocks.begin() + o * one_row,
                                          blocks.begin() + (o + 1) * one_row);
      const Bytes y =
          linear(module, type, output, 1, k, rows_of(0, 1), kTriescopeBF16, 1, kTriescopeF32);
      CAPTURE(o);
      CHECK(y == Bytes(alone.begin() + o * 4, alone.begin() + (o + 1) * 4));
    }
  }
}

TEST_CASE("CUDA block rows, their source run on the CPU: the bits of formats::dequantise") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  CHECK(block_types().size() == 11);
  check_rows_have_the_bits_of_dequantise(stand_in());
}

TEST_CASE("CUDA block linear, its source run on the CPU, is the product of dequantised weights") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_products(stand_in(), {.inputs_of_32 = {32, 96, 1056},
                              .inputs_of_256 = {256, 768, 1280},
                              .outputs = {1, 3, 13},
                              .rows = {1, 2, 4, 5, 8, 9, 16}});
}

TEST_CASE("CUDA block linear, its source run on the CPU: a row's bits depend on that row alone") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_path_only(stand_in(), {2, 3, 5, 8, 9, 16});
}

TEST_CASE("CUDA block linear writes its columns and nothing beside them") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  Rng rng(34);
  const CudaModule module = stand_in();
  const std::int64_t n = 5, k = 64, rows = 3;
  const auto blocks = formats::random_rows(GgmlType::kQ4_1, n, k, rng);
  auto x = random_values(rows * (k + 8), rng, 0.02f);
  const Placed weights(module, blocks), in(module, x);
  const Placed out(module, std::vector<float>(static_cast<std::size_t>(rows * 11), 7.0f));
  const TriescopeBlockLinear call{.blocks = weights.at(),
                                  .type = static_cast<std::int32_t>(GgmlType::kQ4_1),
                                  .outputs = static_cast<std::int32_t>(n),
                                  .inputs = static_cast<std::int32_t>(k),
                                  .rows = static_cast<std::int32_t>(rows),
                                  .x = in.at(),
                                  .x_stride = k + 8,
                                  .x_dtype = kTriescopeF32,
                                  .y_dtype = kTriescopeF32,
                                  .bias = nullptr,
                                  .y = static_cast<float*>(out.at()) + 2,
                                  .y_stride = 11};
  REQUIRE(module.block_linear(&call, nullptr) == 0);
  const std::vector<float> y = decode(out.read(), kTriescopeF32);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Bytes row(reinterpret_cast<const unsigned char*>(x.data() + r * (k + 8)),
                    reinterpret_cast<const unsigned char*>(x.data() + r * (k + 8) + k));
    std::vector<float> want = {7.0f, 7.0f};
    for (const float v :
         decode(linear(module, GgmlType::kQ4_1, blocks, n, k, row, kTriescopeF32, 1, kTriescopeF32),
                kTriescopeF32))
      want.push_back(v);
    want.resize(11, 7.0f);
    CHECK(std::vector<float>(y.begin() + r * 11, y.begin() + (r + 1) * 11) == want);
  }
}

// Each member set to each value in turn: refused, and accepted as it was.
template <class Call, class Run>
class Refusals {
 public:
  Refusals(Call good, Run run) : good_(good), run_(run) {
    CHECK(run_(&good_, nullptr) == cudaSuccess);
  }
  template <class Member, class Value>
  void refuse(Member Call::*member, std::initializer_list<Value> values) {
    for (const Value value : values) {
      Call call = good_;
      call.*member = value;
      CAPTURE(value);
      CHECK(run_(&call, nullptr) == cudaErrorInvalidValue);
    }
  }

 private:
  Call good_;
  Run run_;
};

TEST_CASE("CUDA block kernels refuse what their contracts exclude and launch nothing") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  alignas(64) static unsigned char blocks[4 * 144 + 16];
  alignas(64) static float x[2 * 260], y[2 * 8];
  const auto offset = [](void* at, int bytes) {
    return static_cast<void*>(static_cast<unsigned char*>(at) + bytes);
  };
  const auto q4_k = static_cast<std::int32_t>(GgmlType::kQ4_K);
  Refusals linear(TriescopeBlockLinear{.blocks = blocks,
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
                                       .y_stride = 3},
                  &triescope_cuda_block_linear);
  using L = TriescopeBlockLinear;
  linear.refuse(&L::blocks,
                {static_cast<const void*>(nullptr), static_cast<const void*>(offset(blocks, 2))});
  linear.refuse(&L::type, {-1, 0, 1, 30, 99});  // F32, F16 and BF16 are not blocks
  linear.refuse(&L::outputs, {0, -1, 4});       // 4: longer than y's stride
  linear.refuse(&L::inputs, {0, -256, 32, 128, 288});
  linear.refuse(&L::rows, {0, -1, 17});
  linear.refuse(&L::x, {static_cast<const void*>(nullptr), static_cast<const void*>(offset(x, 8))});
  linear.refuse(&L::x_stride, {std::int64_t{252}, std::int64_t{258}});
  linear.refuse(&L::x_dtype, {-1, 3});
  linear.refuse(&L::y_dtype, {-1, 3});
  linear.refuse(&L::y, {static_cast<void*>(nullptr)});
  linear.refuse(&L::y_stride, {std::int64_t{2}, std::int64_t{0}});

  alignas(64) static float rows[3 * 256];
  Refusals gather(TriescopeBlockRows{.blocks = blocks,
                                     .type = q4_k,
                                     .rows = 3,
                                     .inputs = 256,
                                     .dtype = kTriescopeF32,
                                     .ids = nullptr,
                                     .out = rows,
                                     .out_stride = 256},
                  &triescope_cuda_block_rows);
  using R = TriescopeBlockRows;
  gather.refuse(&R::blocks,
                {static_cast<const void*>(nullptr), static_cast<const void*>(offset(blocks, 2))});
  gather.refuse(&R::type, {-1, 0, 1, 30, 99});
  gather.refuse(&R::rows, {0, -1});
  gather.refuse(&R::inputs, {0, -256, 32, 128, 288});
  gather.refuse(&R::dtype, {-1, 3});
  gather.refuse(&R::out, {static_cast<void*>(nullptr), offset(rows, 8)});
  gather.refuse(&R::out_stride, {std::int64_t{252}, std::int64_t{258}});
}

TEST_CASE("CUDA block kernels take blocks on any address that the type's blocks have") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  Rng rng(35);
  const CudaModule module = stand_in();
  for (const GgmlType type : block_types()) {
    const int align = formats::block_bytes(type) % 4 == 0 ? 4 : 2;
    const auto blocks = formats::random_rows(type, 2, 256, rng);
    std::vector<std::byte> moved(static_cast<std::size_t>(align));
    moved.insert(moved.end(), blocks.begin(), blocks.end());
    const Placed weights(module, moved);
    const Placed out(module, Bytes(2 * 256 * 4));
    TriescopeBlockRows call{.blocks = static_cast<unsigned char*>(weights.at()) + align,
                            .type = static_cast<std::int32_t>(type),
                            .rows = 2,
                            .inputs = 256,
                            .dtype = kTriescopeF32,
                            .ids = nullptr,
                            .out = out.at(),
                            .out_stride = 256};
    CAPTURE(formats::to_string(type));
    REQUIRE(module.block_rows(&call, nullptr) == 0);
    CHECK(decode(out.read(), kTriescopeF32) == formats::dequantised(type, blocks));
    call.blocks = static_cast<unsigned char*>(weights.at()) + align / 2;
    CHECK(module.block_rows(&call, nullptr) == cudaErrorInvalidValue);
  }
}

TEST_CASE("CUDA block kernels on the GPU: products, bits of rows, path only") {
  const CudaModule& gpu = cuda_module();
  if (!gpu.available()) TRIESCOPE_SKIP("the CUDA module is not built");
  if (gpu.device_count() == 0) TRIESCOPE_SKIP("no CUDA device answers");
  check_rows_have_the_bits_of_dequantise(gpu);
  check_products(gpu, {.inputs_of_32 = {32, 96, 1056, 4096},
                       .inputs_of_256 = {256, 768, 1280, 4096},
                       .outputs = {1, 3, 13, 257},
                       .rows = {1, 2, 4, 5, 8, 9, 16}});
  check_path_only(gpu, {2, 3, 5, 8, 9, 16});
}

}  // namespace
}  // namespace triescope::kernels

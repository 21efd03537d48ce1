// Matrices of the libtorch executor in GGUF blocks, through the kernels' own source on the CPU.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/files/random_blocks.h"
#include "core/kernels/aten.h"
#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/model/torch/torch_matrix.h"
#include "tests/unit/cuda_path/failing_launches.h"

namespace triescope::test::test_torch_matrix {
namespace {

using at::Tensor;
using formats::GgmlType;

const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

Tensor random_tensor(std::int64_t rows, std::int64_t cols, Rng& rng) {
  Tensor values = at::empty({rows, cols}, at::kFloat);
  float* at_value = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < rows * cols; ++i)
    at_value[i] = static_cast<float>(2 * rng.uniform() - 1) * 0.05f;
  return values;
}

Tensor tensor_of(const std::vector<float>& values, std::int64_t rows) {
  return at::tensor(values).reshape({rows, -1});
}

// A matrix, and the values of its weights as fp32.
struct Known {
  TorchMatrix matrix;
  Tensor values;
};

Known known(const std::vector<TorchMatrix::Part>& parts, std::int64_t inputs, at::ScalarType dtype,
            Rng& rng) {
  Known made{TorchMatrix(parts, inputs, at::TensorOptions(dtype)), {}};
  std::vector<Tensor> values;
  std::int64_t first = 0;
  for (const TorchMatrix::Part& part : parts) {
    if (part.blocks) {
      const auto bytes = formats::random_rows(*part.blocks, part.outputs, inputs, rng);
      // The later rows first, as a loader may.
      const std::int64_t cut = part.outputs / 3;
      const std::size_t before =
          bytes.size() / static_cast<std::size_t>(part.outputs) * static_cast<std::size_t>(cut);
      made.matrix.set_stored_rows(first + cut, part.outputs - cut,
                                  std::span(bytes).subspan(before));
      made.matrix.set_stored_rows(first, cut, std::span(bytes).first(before));
      values.push_back(tensor_of(formats::dequantised(*part.blocks, bytes), part.outputs));
    } else {
      values.push_back(random_tensor(part.outputs, inputs, rng) * 100);
      made.matrix.set_rows(first, values.back());
    }
    first += part.outputs;
  }
  made.values = at::cat(values, 0);
  return made;
}

// How far y lies from the product in fp64, as a share of sum |x| |W|.
double worst_share(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias) {
  const Tensor wide_x = x.to(at::kDouble), wide_w = w.to(at::kDouble);
  Tensor want = at::matmul(wide_x, wide_w.t());
  Tensor scale = at::matmul(wide_x.abs(), wide_w.abs().t());
  if (bias.defined()) {
    want = want + bias.to(at::kDouble);
    scale = scale + bias.to(at::kDouble).abs();
  }
  return ((y.to(at::kDouble) - want).abs() / scale).max().item<double>();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor left = a.contiguous(), right = b.contiguous();
  return left.sizes() == right.sizes() && left.dtype() == right.dtype() &&
         std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

TEST_CASE("torch matrix: every type of blocks, 1 to 33 rows, is the product of its values") {
  REQUIRE(use_stand_in);
  Rng rng(41);
  for (const GgmlType type : kernels::kernel_block_types()) {
    const Known w = known({{21, type}}, 512, at::kFloat, rng);
    const Tensor x = random_tensor(33, 512, rng);
    Tensor alone;
    for (const std::int64_t rows : {1, 3, 5, 7, 9, 15, 16, 17, 25, 31, 32, 33}) {
      CAPTURE(formats::to_string(type));
      CAPTURE(rows);
      const Tensor some = x.narrow(0, 33 - rows, rows);
      const Tensor y = w.matrix.product(some, {}, at::kFloat);
      REQUIRE(y.size(0) == rows);
      REQUIRE(y.size(1) == 21);
      CHECK(worst_share(y, some, w.values, {}) < 5e-7);
      // The last row is the same for every count: of as many as the kernel takes.
      const Tensor last = y.narrow(0, rows - 1, 1).clone();
      if (rows == 1) alone = last;
      if (rows <= TorchMatrix::kFewRows) CHECK(same_bits(last, alone));
    }
  }
}

TEST_CASE("torch matrix: parts of different types, dense ones among them, with a bias") {
  Rng rng(42);
  using enum GgmlType;
  const std::vector<TorchMatrix::Part> parts = {{40, kQ4_K},       {10, kQ4_K}, {7, std::nullopt},
                                                {6, std::nullopt}, {33, kQ6_K}, {5, kQ8_0}};
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    Known w = known(parts, 256, dtype, rng);
    CHECK(w.matrix.outputs() == 101);
    CHECK(w.matrix.inputs() == 256);
    const std::int64_t dense = 13 * 256 * (dtype == at::kFloat ? 4 : 2);
    CHECK(w.matrix.bytes() == 50 * 144 + 33 * 210 + 5 * 8 * 34 + dense);
    const Tensor x = random_tensor(40, 256, rng).to(dtype);
    const Tensor bias = random_tensor(1, 101, rng).reshape({101}).to(dtype);
    for (const std::int64_t rows : {1, 8, 16, 17, 32, 33, 40}) {
      for (const at::ScalarType result : {dtype, at::kFloat}) {
        CAPTURE(c10::toString(dtype));
        CAPTURE(c10::toString(result));
        CAPTURE(rows);
        const Tensor some = x.narrow(0, 0, rows);
        const Tensor y = w.matrix.product(some, bias, result);
        CHECK((y.scalar_type() == result));
        CHECK(y.is_contiguous());
        const double rounding = dtype == at::kFloat ? 5e-7 : dtype == at::kHalf ? 1.5e-3 : 1.2e-2;
        CHECK(worst_share(y, some, w.values, bias) < rounding);
        if (rows == 1) {
          const Tensor none = w.matrix.product(some, {}, result);
          CHECK(worst_share(none, some, w.values, {}) < rounding);
        }
      }
    }
  }
}

TEST_CASE("torch matrix: a dense one is libtorch's product, whatever its parts") {
  Rng rng(43);
  const Known w = known({{5, std::nullopt}, {3, std::nullopt}}, 48, at::kFloat, rng);
  const Tensor x = random_tensor(4, 48, rng), bias = random_tensor(1, 8, rng).reshape({8});
  CHECK(same_bits(w.matrix.product(x, bias, at::kFloat), at::linear(x, w.values, bias)));
  CHECK(same_bits(w.matrix.product(x, {}, at::kDouble), at::linear(x, w.values).to(at::kDouble)));
  const Tensor ids = at::tensor({7, 0, 7}, at::kInt);
  CHECK_THROWS_AS(TorchMatrix().rows(ids), Error);
  CHECK(same_bits(w.matrix.rows(ids), w.values.index_select(0, ids)));
  CHECK(w.matrix.bytes() == 8 * 48 * 4);
}

TEST_CASE("torch matrix: rows are the bits of formats::dequantise, rounded to the dtype") {
  Rng rng(44);
  for (const GgmlType type : kernels::kernel_block_types()) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const Known w = known({{9, type}}, 256, dtype, rng);
      CAPTURE(formats::to_string(type));
      CAPTURE(c10::toString(dtype));
      for (const at::ScalarType kind : {at::kInt, at::kLong}) {
        const Tensor ids = at::tensor({8, 0, 3, 3, 7}, kind);
        CHECK(same_bits(w.matrix.rows(ids), w.values.index_select(0, ids).to(dtype)));
      }
      CHECK(w.matrix.rows(at::empty({0}, at::kInt)).size(0) == 0);
    }
  }
}

TEST_CASE("torch matrix: many rows multiply by tiles of bounded size, the last one shorter") {
  Rng rng(45);
  // In fp32 a tile is 8192 outputs of 4096 inputs.
  const std::int64_t inputs = 4096, outputs = kBlockTileBytes / (4 * inputs) + 3;
  CHECK(outputs == 8195);
  const Known w = known({{outputs, GgmlType::kQ8_0}}, inputs, at::kFloat, rng);
  const Tensor x = random_tensor(33, inputs, rng);
  const Tensor bias = random_tensor(1, outputs, rng).reshape({outputs});
  const Tensor y = w.matrix.product(x, bias, at::kFloat), want = at::linear(x, w.values, bias);
  const double largest = want.abs().max().item<double>();
  CHECK((y - want).abs().max().item<double>() < 1e-5 * largest);
}

TEST_CASE("torch matrix: what does not fit is refused with what was expected") {
  const at::TensorOptions fp32(at::kFloat);
  using Part = TorchMatrix::Part;
  CHECK_THROWS_WITH_AS(TorchMatrix(std::vector<Part>{{4, GgmlType::kQ4_K}}, 576, fp32),
                       "matrix of type Q4_K: expected a multiple of 256 inputs, found 576", Error);
  Rng rng(46);
  Known w = known({{4, GgmlType::kQ8_0}, {2, std::nullopt}}, 64, at::kFloat, rng);
  const std::vector<std::byte> bytes(3 * 68);
  CHECK_THROWS_WITH_AS(w.matrix.set_stored_rows(0, 4, bytes),
                       "TorchMatrix::set_stored_rows: expected 272 bytes of Q8_0, found 204",
                       Error);
  CHECK_THROWS_WITH_AS(w.matrix.set_stored_rows(4, 2, bytes),
                       "TorchMatrix::set_stored_rows: expected rows of fp32, found blocks", Error);
  CHECK_THROWS_WITH_AS(w.matrix.set_rows(1, at::zeros({1, 64})),
                       "TorchMatrix::set_rows: expected rows of Q8_0, found fp32", Error);
  CHECK_THROWS_WITH_AS(
      w.matrix.set_rows(5, at::zeros({2, 64})),
      "TorchMatrix::set_rows: expected rows of one type within a matrix of 6, found [5, 7)", Error);
  CHECK_THROWS_WITH_AS(
      w.matrix.set_stored_rows(3, 3, bytes),
      "TorchMatrix::set_stored_rows: expected rows of one type within a matrix of 6, "
      "found [3, 6)",
      Error);
  CHECK_THROWS_WITH_AS(
      w.matrix.product(at::zeros({1, 32}), {}, at::kFloat),
      "product: expected rows of 64 values of type float, found rows of 32 of type float", Error);
  CHECK_THROWS_WITH_AS(
      w.matrix.product(at::zeros({1, 64}, at::kDouble), {}, at::kFloat),
      "product: expected rows of 64 values of type float, found rows of 64 of type "
      "double",
      Error);
  CHECK_THROWS_WITH_AS(w.matrix.rows(at::zeros({1}, at::kInt)),
                       "rows of a matrix: expected one type, found 2", Error);
}

TEST_CASE("torch matrix: a dense matrix of 16 bits gives fp32 without rounding it first") {
  REQUIRE(use_stand_in);
  Rng rng(48);
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    CAPTURE(std::string(at::toString(dtype)));
    Known w = known({{13, std::nullopt}}, 1032, dtype, rng);
    w.values = w.values.to(dtype);
    const Tensor x = random_tensor(33, 1032, rng).to(dtype);
    const auto rounded = [&](const Tensor& y) { return at::equal(y, y.to(dtype).to(at::kFloat)); };
    const auto product = [&](std::int64_t first, std::int64_t rows, at::ScalarType result) {
      return w.matrix.product(x.narrow(0, first, rows), {}, result);
    };
    CHECK(rounded(product(0, 32, at::kFloat)));
    const Tensor own_before = product(0, 32, dtype);
    w.matrix.give_fp32();
    const Tensor y = product(0, 32, at::kFloat);
    CHECK_FALSE(rounded(y));
    CHECK(worst_share(y, x.narrow(0, 0, 32), w.values, {}) < 5e-7);
    for (const std::int64_t row : {0, 15, 16, 31})
      CHECK(at::equal(product(row, 1, at::kFloat)[0], y[row]));
    // What is not asked for in fp32, or is more rows than the kernel takes, is as before.
    CHECK(at::equal(product(0, 32, dtype), own_before));
    CHECK(rounded(product(0, 33, at::kFloat)));
  }
}

TEST_CASE("torch matrix: a launch that fails says which type and where") {
  Rng rng(47);
  const Known w = known({{4, GgmlType::kQ5_K}}, 256, at::kFloat, rng);
  const auto message = [&](const auto& work) -> std::string {
    const auto thrown = error_of_failing_launches("700", work);
    REQUIRE(thrown);
    CHECK(thrown->code() == ErrorCode::kCuda);
    return thrown->what();
  };
  // Which kernel 32 rows go to, and which 33.
  for (const std::int64_t rows : {1, 32})
    CHECK(message([&] {
            w.matrix.product(at::zeros({rows, 256}), {}, at::kFloat);
          }) == "product of Q5_K blocks on cpu: an error of the stand-in");
  CHECK(message([&] {
          w.matrix.product(at::zeros({33, 256}), {}, at::kFloat);
        }) == "dequantising Q5_K blocks on cpu: an error of the stand-in");
  CHECK(message([&] { w.matrix.rows(at::zeros({1}, at::kInt)); }) ==
        "dequantising Q5_K blocks on cpu: an error of the stand-in");
}

}  // namespace
}  // namespace triescope::test::test_torch_matrix

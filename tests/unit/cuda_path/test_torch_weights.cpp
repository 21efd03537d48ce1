// Weights on their way from a file into the libtorch executor: every dense matrix holds the file's
// values, rounded to the dtype once, whatever it was stored in.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/kernels/aten.h"
#include "core/model/torch/torch_runtime.h"
#include "core/model/torch/torch_weights.h"
#include "tests/support/refusal.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test::test_torch_weights {
namespace {

using formats::GgmlType;
using formats::Role;

TEST_CASE("torch weights: matrices hold the file's values, rounded once, from every type") {
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  for (const GgmlType type : {GgmlType::kF32, GgmlType::kF16, GgmlType::kBF16, GgmlType::kQ8_0}) {
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, 601);
    const auto source = formats::WeightSource::open(path);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
      CAPTURE(formats::to_string(type));
      CAPTURE(std::string(at::toString(dtype)));
      const TorchWeights weights(*source, at::TensorOptions(dtype), {}, 2, {}, {});
      const auto held = [&](const TorchMatrix& matrix, Role role, int layer, std::int64_t first) {
        const auto shape = source->shape(role).value();
        at::Tensor expected = at::empty({shape.rows, shape.cols}, at::kFloat);
        source->read_rows(
            {role, layer}, 0,
            {expected.mutable_data_ptr<float>(), static_cast<std::size_t>(expected.numel())});
        at::Tensor found;
        on_device(at::kCPU,
                  [&] { found = matrix.rows(at::arange(first, first + shape.rows, at::kInt)); });
        return at::equal(found, expected.to(dtype));
      };
      CHECK(held(weights.embedding, Role::kEmbedding, 0, 0));
      CHECK(held(weights.head.matrix, Role::kHead, 0, 0));
      CHECK(held(weights.layers[1].qkv.matrix, Role::kQuery, 1, 0));
      CHECK(held(weights.layers[1].qkv.matrix, Role::kKey, 1, kStoredWidth));
      CHECK(held(weights.layers[1].qkv.matrix, Role::kValue, 1, kStoredWidth * 3 / 2));
      CHECK(held(weights.layers[0].mlps[0].gate_up.matrix, Role::kUp, 0, 512));
      CHECK(held(weights.layers[0].mlps[0].down.matrix, Role::kDown, 0, 0));
    }
  }
}

TEST_CASE("torch weights: plain rows of another size or kind are refused") {
  TorchMatrix matrix(std::vector<TorchMatrix::Part>{{4, std::nullopt}}, 8,
                     at::TensorOptions(at::kFloat));
  const std::vector<std::byte> bytes(2 * 8 * 2);
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          matrix.set_plain_rows(0, 2, GgmlType::kF32, bytes);
        }) == "TorchMatrix::set_plain_rows: expected 64 bytes of F32, found 32");
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          matrix.set_plain_rows(0, 2, GgmlType::kQ8_0, bytes);
        }) == "TorchMatrix::set_plain_rows: expected F32, F16 or BF16, found Q8_0");
  CHECK(refusal(ErrorCode::kInvalidArgument,
                [&] { matrix.set_plain_rows(3, 2, GgmlType::kF16, bytes); })
            .starts_with(
                "TorchMatrix::set_plain_rows: expected rows of one type within a matrix of 4"));
}

}  // namespace
}  // namespace triescope::test::test_torch_weights

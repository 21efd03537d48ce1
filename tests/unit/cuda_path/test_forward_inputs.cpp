// What a forward of the libtorch executor reads of its batch, and its merged weights.
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include "core/kernels/aten.h"
#include "core/model/torch/forward_inputs.h"
#include "core/model/torch/torch_weights.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_forward_inputs {
namespace {

using formats::Role;
using Ints = std::vector<std::int32_t>;

Ints ints(const at::Tensor& tensor) {
  const auto* values = tensor.const_data_ptr<std::int32_t>();
  return {values, values + tensor.numel()};
}

TEST_CASE("forward inputs: every list of the batch is a part of one upload, ropes of another") {
  const Ints tokens = {7, 8, 9}, positions = {4, 5, 5}, slots = {1, 6, 2}, logit_rows = {0, 2},
             feature_rows = {1}, prefix = {9, 3, 4, 0}, own = {1, 1, 6, 1, 2},
             offsets = {0, 1, 3, 5};
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = positions;
  batch.slots = slots;
  batch.logit_rows = logit_rows;
  batch.feature_rows = feature_rows;
  batch.text_length = 40;
  formats::RopeConfig plain, dynamic;
  plain.dims = 6;
  dynamic.dims = 4;
  dynamic.kind = formats::RopeKind::kDynamic;
  dynamic.factor = 2;
  dynamic.original_context = 16;
  const std::vector<RopeTable> ropes = {RopeTable(plain), RopeTable(dynamic)};
  StagingBuffer staging;
  const ForwardInputs in(batch, {.prefix = prefix, .own = own, .offsets = offsets}, ropes,
                         at::Device(at::kCPU), staging);
  const std::pair<at::Tensor, Ints> lists[] = {{in.tokens, tokens},
                                               {in.positions, positions},
                                               {in.slots, slots},
                                               {in.logit_rows, logit_rows},
                                               {in.feature_rows, feature_rows},
                                               {in.prefix, prefix},
                                               {in.own, own},
                                               {in.offsets, offsets}};
  for (const auto& [tensor, want] : lists) {
    CHECK(ints(tensor) == want);
    CHECK(tensor.storage().is_alias_of(in.tokens.storage()));
  }
  REQUIRE(in.rotations.size() == 2);
  for (std::size_t rope = 0; rope < 2; ++rope) {
    const auto& [cos, sin] = in.rotations[rope];
    const int half = ropes[rope].dims() / 2;
    CHECK(cos.sizes().equals({3, half}));
    CHECK(sin.sizes().equals({3, half}));
    CHECK(cos.storage().is_alias_of(in.rotations[0].cos.storage()));
    CHECK(sin.storage().is_alias_of(in.rotations[0].cos.storage()));
    for (int r = 0; r < 3; ++r) {
      std::vector<float> c(static_cast<std::size_t>(half)), s(c.size());
      ropes[rope].fill(positions[static_cast<std::size_t>(r)], 40, c, s);
      for (int i = 0; i < half; ++i) {
        CHECK(cos.const_data_ptr<float>()[r * half + i] == c[static_cast<std::size_t>(i)]);
        CHECK(sin.const_data_ptr<float>()[r * half + i] == s[static_cast<std::size_t>(i)]);
      }
    }
  }
  // Past the text a row's own position counts.
  batch.text_length = 0;
  const ForwardInputs alone(batch, {.prefix = prefix, .own = own, .offsets = offsets}, ropes,
                            at::Device(at::kCPU), staging);
  std::vector<float> c(2), s(2);
  ropes[1].fill(5, 6, c, s);
  CHECK(alone.rotations[1].cos.const_data_ptr<float>()[2] == c[0]);
  CHECK(alone.rotations[1].sin.const_data_ptr<float>()[5] == s[1]);
}

TEST_CASE("torch weights: q, k, v and gate, up are rows of one matrix, biases too; nothing twice") {
  const nlohmann::json golden = golden_families()["cases"];
  for (const char* name : {"llama", "llama tied, biases, head_dim", "gemma3", "phi3", "gpt2"}) {
    CAPTURE(name);
    const TempDir folder;
    write_golden_model(golden.at(name), folder.path());
    const auto source = formats::WeightSource::open(folder.path().string());
    const formats::ModelConfig& config = source->config();
    const TorchWeights weights(*source, at::TensorOptions().dtype(at::kBFloat16),
                               /*kept_blocks=*/{}, 2, {}, {});
    const auto rows_of = [&](Role role, int layer) {
      const auto shape = source->shape(role);
      if (!shape) return at::Tensor();
      at::Tensor values = at::empty({shape->rows, shape->cols}, at::kFloat);
      source->read_rows(
          {role, layer}, 0,
          {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
      return shape->cols == 1 ? values.reshape({shape->rows}) : values;
    };
    // The parts below one another, as the tensor must hold them.
    const auto check = [&](const at::Tensor& got, std::initializer_list<Role> roles, int layer,
                           at::ScalarType dtype = at::kBFloat16, double plus = 0) {
      std::vector<at::Tensor> parts;
      for (const Role role : roles) {
        if (const at::Tensor part = rows_of(role, layer); part.defined()) parts.push_back(part);
      }
      CHECK(got.defined() == !parts.empty());
      if (parts.empty() || !got.defined()) return;
      CHECK((got.scalar_type() == dtype));
      CHECK(at::equal(got, (at::cat(parts) + plus).to(dtype)));
    };
    const auto check_matrix = [&](const TorchMatrix& got, std::initializer_list<Role> roles,
                                  int layer) {
      REQUIRE(got.defined());
      check(got.rows(at::arange(got.outputs(), at::kInt)), roles, layer);
    };
    const double one = config.norm_plus_one ? 1 : 0;
    check_matrix(weights.embedding, {Role::kEmbedding}, 0);
    check(weights.positions, {Role::kPositions}, 0);
    check(weights.final_norm.weight, {Role::kFinalNorm}, 0, at::kFloat, one);
    check(weights.final_norm.bias, {Role::kFinalNormBias}, 0, at::kFloat, one);
    if (config.tied_embeddings) {
      // What is written to the one is in the other.
      const c10::InferenceMode inference;
      TorchMatrix embedding = weights.embedding;
      const at::Tensor first = at::zeros({1}, at::kInt), row = embedding.rows(first);
      embedding.set_rows(0, at::full({1, embedding.inputs()}, 7.0));
      CHECK(at::all(weights.head.matrix.rows(first) == 7.0).item<bool>());
      embedding.set_rows(0, row);
      check_matrix(weights.head.matrix, {Role::kEmbedding}, 0);
    } else {
      check_matrix(weights.head.matrix, {Role::kHead}, 0);
    }
    CHECK(!weights.head.bias.defined());
    REQUIRE(weights.layers.size() == config.layers.size());
    for (int i = 0; i < static_cast<int>(weights.layers.size()); ++i) {
      const TorchWeights::Layer& layer = weights.layers[static_cast<std::size_t>(i)];
      CAPTURE(i);
      check_matrix(layer.qkv.matrix, {Role::kQuery, Role::kKey, Role::kValue}, i);
      check(layer.qkv.bias, {Role::kQueryBias, Role::kKeyBias, Role::kValueBias}, i);
      check_matrix(layer.mlps[0].gate_up.matrix, {Role::kGate, Role::kUp}, i);
      check(layer.mlps[0].gate_up.bias, {Role::kGateBias, Role::kUpBias}, i);
      check_matrix(layer.output.matrix, {Role::kOutput}, i);
      check(layer.output.bias, {Role::kOutputBias}, i);
      check_matrix(layer.mlps[0].down.matrix, {Role::kDown}, i);
      check(layer.mlps[0].down.bias, {Role::kDownBias}, i);
      check(layer.attention_norm.weight, {Role::kAttentionNorm}, i, at::kFloat, one);
      check(layer.attention_norm.bias, {Role::kAttentionNormBias}, i, at::kFloat, one);
      check(layer.mlp_norm.weight, {Role::kMlpNorm}, i, at::kFloat, one);
      check(layer.mlp_norm.bias, {Role::kMlpNormBias}, i, at::kFloat, one);
      check(layer.query_norm, {Role::kQueryNorm}, i, at::kFloat, one);
      check(layer.key_norm, {Role::kKeyNorm}, i, at::kFloat, one);
      check(layer.post_attention_norm, {Role::kPostAttentionNorm}, i, at::kFloat, one);
      check(layer.post_mlp_norm, {Role::kPostMlpNorm}, i, at::kFloat, one);
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_forward_inputs

// A layer's steps through the kernels (over the stand-in) against libtorch's operations: the two
// implementations of TorchLayerOps must mean the same for every shape, dtype and setting.
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "core/files/config.h"
#include "core/files/random_blocks.h"
#include "core/kernels/aten.h"
#include "core/model/torch/cuda_attention.h"
#include "core/model/torch/torch_layer_ops.h"

namespace triescope::test::test_layer_ops {
namespace {

using at::Tensor;
using formats::Activation;
using formats::ModelConfig;
using formats::NormKind;

constexpr at::ScalarType kDTypes[] = {at::kFloat, at::kHalf, at::kBFloat16};

// Without a seed of its own every case would depend on those before it.
at::Generator seeded(std::uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
  generator.set_current_seed(seed);
  return generator;
}

Tensor random(at::IntArrayRef shape, at::ScalarType dtype, at::Generator& generator) {
  return at::randn(shape, generator, at::kFloat).to(dtype);
}

// Equal bits, NaN and the sign of 0 apart.
bool same(const Tensor& a, const Tensor& b) { return at::equal(a, b); }

// fp32: within `fraction` of a value or `least`. fp16 and bf16: all within two roundings or `least`,
// and `equal` of them the same, where not less than 100 are compared.
void check_close(const Tensor& got, const Tensor& want, double fraction, double least,
                 double equal = 0.99) {
  REQUIRE(got.sizes().equals(want.sizes()));
  const at::ScalarType dtype = want.scalar_type();
  if (dtype != at::kFloat) {
    fraction = dtype == at::kHalf ? 0x1p-9 : 0x1p-6;
    least = std::max(least, 1e-5);
  }
  const Tensor a = got.to(at::kDouble), b = want.to(at::kDouble);
  CHECK(at::all((a - b).abs() <= (b.abs() * fraction).clamp_min(least)).item<bool>());
  if (dtype != at::kFloat && want.numel() >= 100)
    CHECK(at::eq(got, want).to(at::kDouble).mean().item<double>() >= equal);
}

TEST_CASE("layer steps: add and norm is what libtorch's operations compute") {
  const c10::InferenceMode inference;
  at::Generator generator = seeded(1);
  for (const NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
    ModelConfig config;
    config.norm = kind;
    config.norm_eps = 1e-3f;
    const auto torch = make_torch_layer_ops(config), cuda = make_cuda_layer_ops(config);
    for (const at::ScalarType dtype : kDTypes) {
      for (const std::int64_t dim : {1, 31, 64, 576, 1023, 2056}) {
        for (const std::int64_t rows : {1, 2, 33}) {
          const Tensor x = random({rows, dim}, dtype, generator) * 3;
          const Tensor h = random({rows, dim}, dtype, generator);
          const Tensor post = random({dim}, at::kFloat, generator);
          const TorchNorm norm = {
              random({dim}, at::kFloat, generator),
              kind == NormKind::kLayer ? random({dim}, at::kFloat, generator) : Tensor()};
          CAPTURE(std::string(at::toString(dtype)));
          CAPTURE(dim);
          CAPTURE(rows);
          CAPTURE(static_cast<int>(kind));
          for (const auto& [branch, after] :
               {std::pair<Tensor, Tensor>{}, {h, Tensor()}, {h, post}}) {
            CAPTURE(branch.defined());
            CAPTURE(after.defined());
            Tensor want_x = x.clone(), got_x = x.clone();
            const Tensor want = torch->add_norm(want_x, branch, after, norm);
            const Tensor got = cuda->add_norm(got_x, branch, after, norm);
            if (after.defined() && dtype == at::kFloat) {
              check_close(got_x, want_x, 1e-5, 1e-5);
            } else if (!after.defined()) {
              CHECK(same(got_x, want_x));
            }
            // Where norm(h) * post takes another rounding, the rest is not comparable.
            if (!after.defined() || dtype == at::kFloat) check_close(got, want, 1e-5, 1e-5);
            if (after.defined() && dtype != at::kFloat) {
              CHECK(at::eq(got_x, want_x).to(at::kDouble).mean().item<double>() >=
                    (want_x.numel() < 100 ? 0.9 : 0.98));
              // From the same x on, the norms are close.
              Tensor again = got_x.clone();
              check_close(got, torch->add_norm(again, {}, {}, norm), 1e-5, 1e-5);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("layer steps: embedding and norm is what libtorch's operations compute") {
  const c10::InferenceMode inference;
  at::Generator generator = seeded(6);
  const std::int64_t vocab = 40, dim = 256;
  const std::vector<std::int32_t> tokens = {7, 39, 0, 7, 12}, positions = {0, 3, 1, 2, 8};
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = batch.slots = positions;
  StagingBuffer staging;
  const ForwardInputs in(batch, {.prefix = {}, .own = positions, .offsets = {}}, {}, at::kCPU,
                         staging);
  Rng rng(6);
  for (const NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
    for (const float scale : {1.0f, 33.9411f}) {
      ModelConfig config;
      config.norm = kind;
      config.norm_eps = 1e-3f;
      config.embedding_scale = scale;
      const auto torch = make_torch_layer_ops(config), cuda = make_cuda_layer_ops(config);
      for (const at::ScalarType dtype : kDTypes) {
        const TorchNorm norm = {
            random({dim}, at::kFloat, generator),
            kind == NormKind::kLayer ? random({dim}, at::kFloat, generator) : Tensor()};
        for (const auto blocks : {std::optional<formats::GgmlType>(), {formats::GgmlType::kQ8_0}}) {
          TorchMatrix table(std::vector<TorchMatrix::Part>{{vocab, blocks}}, dim,
                            at::TensorOptions(dtype));
          if (blocks) {
            table.set_stored_rows(0, vocab, formats::random_rows(*blocks, vocab, dim, rng));
          } else {
            table.set_rows(0, random({vocab, dim}, at::kFloat, generator));
          }
          for (const Tensor& added : {Tensor(), random({9, dim}, dtype, generator)}) {
            const auto want = torch->embed_norm(table, added, in, norm);
            const auto got = cuda->embed_norm(table, added, in, norm);
            CAPTURE(std::string(at::toString(dtype)));
            CAPTURE(static_cast<int>(kind));
            CAPTURE(scale);
            CAPTURE(blocks.has_value());
            CAPTURE(added.defined());
            CHECK(same(got.x, want.x));
            check_close(got.normed, want.normed, 1e-5, 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("layer steps: rotation and the KV store have the bits of libtorch's operations") {
  const c10::InferenceMode inference;
  at::Generator generator = seeded(2);
  struct Shape {
    int heads, kv_heads, head_dim, rope_dims;
  };
  for (const auto& [heads, kv_heads, head_dim, rope_dims] : {Shape{1, 1, 64, 64},
                                                             {8, 1, 80, 20},
                                                             {6, 3, 128, 128},
                                                             {4, 4, 256, 64},
                                                             {14, 2, 64, 0},
                                                             {9, 3, 96, 72}}) {
    for (const at::ScalarType dtype : kDTypes) {
      for (const bool norms : {false, true}) {
        for (const std::int64_t rows : {1, 5, 33}) {
          ModelConfig config;
          config.layers.resize(1);
          config.heads = heads;
          config.kv_heads = kv_heads;
          config.head_dim = head_dim;
          config.qk_norm = norms ? formats::QkNorm::kHeads : formats::QkNorm::kNone;
          config.norm_eps = 1e-6f;
          const std::int64_t capacity = rows + 4;
          TorchWeights::Layer layer = {};
          if (norms) {
            layer.query_norm = random({head_dim}, at::kFloat, generator);
            layer.key_norm = random({head_dim}, at::kFloat, generator);
          }
          const ForwardInputs::Rotation rotation = {
              random({rows, rope_dims / 2}, at::kFloat, generator),
              random({rows, rope_dims / 2}, at::kFloat, generator)};
          const Tensor qkv =
              random({rows, config.query_dims() + 2 * config.kv_dims()}, dtype, generator);
          const Tensor slots = at::randperm(capacity, generator, at::kInt).narrow(0, 0, rows);
          const Tensor empty = random({capacity, kv_heads, head_dim}, dtype, generator);
          Tensor k[2], v[2], q[2];
          for (const int kernels : {0, 1}) {
            const auto ops = kernels ? make_cuda_layer_ops(config) : make_torch_layer_ops(config);
            k[kernels] = empty.clone();
            v[kernels] = empty.clone();
            q[kernels] =
                ops->split_qkv(qkv.clone(), config.heads_of(0), layer,
                               rope_dims > 0 ? &rotation : nullptr, slots, k[kernels], v[kernels]);
          }
          CAPTURE(head_dim);
          CAPTURE(heads);
          CAPTURE(rows);
          CAPTURE(norms);
          CAPTURE(std::string(at::toString(dtype)));
          CHECK(q[1].stride(1) == head_dim);
          CHECK(q[1].stride(2) == 1);
          CHECK(same(v[1], v[0]));
          if (norms) {
            // A norm that takes another rounding moves both values of a pair by as much.
            const double step = dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 0.02 : 0.16;
            check_close(q[1], q[0], 1e-5, step);
            check_close(k[1], k[0], 1e-5, step);
          } else {
            CHECK(same(q[1], q[0]));
            CHECK(same(k[1], k[0]));
          }
        }
      }
    }
  }
}

TEST_CASE("layer steps: activations, gated and not, are libtorch's") {
  const c10::InferenceMode inference;
  at::Generator generator = seeded(3);
  for (const Activation activation :
       {Activation::kSilu, Activation::kGeluTanh, Activation::kGelu}) {
    for (const bool gated : {false, true}) {
      for (const at::ScalarType dtype : kDTypes) {
        for (const int dim : {1, 7, 48, 1023, 2056}) {
          for (const std::int64_t rows : {1, 3, 33}) {
            ModelConfig config;
            config.activation = activation;
            config.gated_mlp = gated;
            config.intermediate = dim;
            Tensor in = random({rows, (gated ? 2 : 1) * dim}, dtype, generator) * 4;
            in.select(1, 0).fill_(rows == 1 ? -0.0 : -60.0);
            CAPTURE(static_cast<int>(activation));
            CAPTURE(gated);
            CAPTURE(dim);
            CAPTURE(rows);
            CAPTURE(std::string(at::toString(dtype)));
            // GELU well below 0 is a difference of nearly equal numbers, times `up`, below 16.
            // libtorch's own in f16 takes that difference more exactly on processors with AVX-512
            // FP16 (94 % the same); its formula in fp32, rounded where libtorch rounds, does not.
            const bool own_varies = activation == Activation::kGelu && dtype == at::kHalf;
            const Tensor got = make_cuda_layer_ops(config)->activate(in);
            check_close(got, make_torch_layer_ops(config)->activate(in), 4e-6, 1.6e-5,
                        own_varies ? 0.9 : 0.95);
            if (!own_varies) continue;
            const Tensor x = in.narrow(1, 0, dim).to(at::kFloat);
            const Tensor gelu = (x * 0.5 * (at::erf(x * 0.70710678118654752440) + 1)).to(dtype);
            check_close(got, gated ? gelu * in.narrow(1, dim, dim) : gelu, 4e-6, 1.6e-5, 0.95);
          }
        }
      }
    }
  }
}

TEST_CASE("layer steps: a NaN in what a product left reaches the same outputs on both ways") {
  const c10::InferenceMode inference;
  at::Generator generator = seeded(4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const at::ScalarType dtype : kDTypes) {
    ModelConfig config;
    config.layers.resize(1);
    config.intermediate = 16;
    config.heads = 3;
    config.kv_heads = 1;
    config.head_dim = 8;
    Tensor h = random({4, 40}, dtype, generator), gate_up = random({4, 32}, dtype, generator);
    h.index({2, 5}).fill_(nan);
    gate_up.index({1, 3}).fill_(nan);
    gate_up.index({3, 16 + 9}).fill_(nan);
    Tensor qkv = random({4, 40}, dtype, generator);
    for (const int at : {9, 3 * 8 + 2, 4 * 8 + 7}) qkv.index({1, at}).fill_(nan);
    const Tensor x = random({4, 40}, dtype, generator), weight = at::ones({40}, at::kFloat),
                 slots = at::arange(4, at::kInt), kv = at::zeros({4, 1, 8}, dtype);
    const ForwardInputs::Rotation rotation = {random({4, 4}, at::kFloat, generator),
                                              random({4, 4}, at::kFloat, generator)};
    std::vector<Tensor> found[2];
    for (const int kernels : {0, 1}) {
      const auto ops = kernels ? make_cuda_layer_ops(config) : make_torch_layer_ops(config);
      Tensor stream = x.clone(), k = kv.clone(), v = kv.clone();
      const Tensor normed = ops->add_norm(stream, h, {}, {weight, {}});
      const Tensor q = ops->split_qkv(qkv.clone(), config.heads_of(0), {}, &rotation, slots, k, v);
      for (const Tensor& out : {stream, normed, q, k, v, ops->activate(gate_up)})
        found[kernels].push_back(at::isnan(out));
    }
    CAPTURE(std::string(at::toString(dtype)));
    const std::int64_t expected[] = {1, 40, 2, 2, 1, 2};
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK(found[1][i].sum().item<std::int64_t>() == expected[i]);
      CHECK(same(found[1][i], found[0][i]));
    }
  }
}

TEST_CASE("layer steps: what a kernel does not do is said") {
  ModelConfig config;
  config.head_dim = 64;
  CHECK(cuda_layer_obstacle(config).empty());
  CHECK(CudaAttention::obstacle(config).empty());
  config.qk_norm = formats::QkNorm::kHeads;
  CHECK(cuda_layer_obstacle(config).empty());
  config.norm = NormKind::kLayer;
  CHECK(cuda_layer_obstacle(config) ==
        "the kernel normalises q and k by RMS, and this model by layer norm");
  config.norm = NormKind::kRms;
  config.qk_norm = formats::QkNorm::kOwnHeads;
  CHECK(cuda_layer_obstacle(config) ==
        "the kernel normalises q and k by RMS, and this model by layer norm");
  config.qk_norm = formats::QkNorm::kWhole;
  CHECK(cuda_layer_obstacle(config) ==
        "the kernel normalises q and k head by head, and this model over all heads");
  CHECK(cuda_norm_obstacle(config).empty());
  config.pre_norms = false;
  CHECK(cuda_norm_obstacle(config) ==
        "the kernel normalises what enters a branch, and this model what leaves it");
  for (const int head_dim : {12, 264}) {
    config.head_dim = head_dim;
    CHECK(CudaAttention::obstacle(config) ==
          "the kernel takes head sizes that are multiples of 8 up to 256, and this model's is " +
              std::to_string(head_dim));
  }
  config.head_dim = 64;
  config.layers = {{.head_dim = 320}, {.kv_from = 0}};
  CHECK(CudaAttention::obstacle(config) ==
        "the kernel takes head sizes that are multiples of 8 up to 256, and this model's is 320");
  config.qk_norm = formats::QkNorm::kHeads;
  CHECK(cuda_layer_obstacle(config) ==
        "the kernel expects q, k and v of every layer, and layers of this model share some");
  config.value_norm = true;
  CHECK(cuda_layer_obstacle(config) == "the kernel does not normalise v, as this model does");
}

}  // namespace
}  // namespace triescope::test::test_layer_ops

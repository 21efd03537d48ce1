// A model whose layers have heads of several sizes, or read the K and V of others: what its KV storage holds, how it
// grows and moves, what it costs, and what a part of the layers computes.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/files/config.h"
#include "core/model/kv_copies.h"
#include "core/model/layer_route.h"
#include "core/model/layer_subset.h"
#include "core/model/memory_need.h"
#include "tests/support/refusal.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_uneven_kv {
namespace {

using Layers = std::vector<std::int32_t>;

// 7 layers, "wwfwwff" by window; the last three read K and V of layers 3 (w) and 2 (f).
constexpr const char* kShared = "gemma4";
// The same without sharing, with another number of key/value heads in full layers.
constexpr const char* kOwn = "gemma4 keys are values";
// 4 layers, the third attends, the others are convolutions over 3 rows.
constexpr const char* kConvolutions = "lfm2";

std::vector<std::int32_t> some_ids(int count) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) ids.push_back((i * 29 + 7) % 64);
  return ids;
}

std::vector<float> logits_of(Model& model, const std::vector<std::int32_t>& ids) {
  const auto kv = model.make_kv(static_cast<int>(ids.size()));
  return all_logits(model, *kv, ids);
}

}  // namespace

TEST_CASE("uneven KV: a slot has K and V of the layers that own some, each as wide as its heads") {
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    const auto shared = golden_model(kShared, {.reference_kernels = reference}),
               own = golden_model(kOwn, {.reference_kernels = reference});
    // Three layers of 2 heads of 8, and one of 2 heads of 16; then four and three of one head of 16.
    CHECK(shared->make_kv(4)->bytes_per_slot() == 4 * 2 * (3 * 2 * 8 + 2 * 16));
    CHECK(own->make_kv(4)->bytes_per_slot() == 4 * 2 * (4 * 2 * 8 + 3 * 16));
    const auto convolutions = golden_model(kConvolutions, {.reference_kernels = reference});
    CHECK(convolutions->make_kv(4)->bytes_per_slot() == 4 * (3 * 32 + 2 * 2 * 8));
    CHECK(convolutions->info().widest_head == 8);
    REQUIRE(convolutions->info().notes.size() == 1);
    CHECK(
        convolutions->info().notes[0] ==
        "heads have 8 values; 1 of 4 layers have K and V of their own, 3 are convolutions over 3 rows, "
        "with a column of their state in the place of K");
    for (Model* model : {shared.get(), own.get(), convolutions.get()}) {
      const auto bytes = model->make_kv(1)->bytes_per_slot();
      CHECK(memory_need(model->info(), {}).kv_per_token == bytes);
      CHECK(memory_need(model->info(), {.dtype = DType::kBF16}).kv_per_token == bytes / 2);
    }
    CHECK(shared->info().widest_head == 16);
    CHECK(own->info().widest_head == 16);
    REQUIRE(shared->info().notes.size() == 1);
    CHECK(
        shared->info().notes[0] ==
        "heads have 8 and 16 values, by layer; 4 of 7 layers have K and V of their own, the others read "
        "those of layers 2 and 3");
    REQUIRE(own->info().notes.size() == 1);
    CHECK(own->info().notes[0] ==
          "heads have 8 and 16 values, by layer; 7 of 7 layers have K and V of their own");
  }
}

TEST_CASE("uneven KV: growing and moving keep what is held") {
  const std::vector<std::int32_t> ids = some_ids(40);
  for (const char* name : {kShared, kOwn, kConvolutions}) {
    for (const bool reference : {false, true}) {
      CAPTURE(name);
      CAPTURE(reference);
      const auto model = golden_model(name, {.reference_kernels = reference});
      const std::vector<float> expected = logits_of(*model, ids);
      const auto kv = model->make_kv(39);
      all_logits(*model, *kv, std::vector(ids.begin(), ids.end() - 1));
      kv->reserve(3000);
      CHECK(kv->capacity() >= 3000);
      std::vector<std::int32_t> from = iota(39), to;
      for (int i = 0; i < 39; ++i) to.push_back(38 - i);  // targets are sources too
      kv->move(from, to);
      const std::vector<std::int32_t> token = {ids.back()}, position = {39}, slot = {2000},
                                      row = {0};
      ForwardBatch batch;
      batch.tokens = token;
      batch.positions = position;
      batch.slots = slot;
      batch.prefix_slots = to;
      batch.logit_rows = row;
      const ForwardOutput output = model->forward(batch, *kv);
      const std::vector<float> last(expected.end() - 64, expected.end());
      CHECK(max_difference(output.logits, last) <= (reference ? 1e-5 : 0.0));
    }
  }
}

TEST_CASE("uneven KV: KV of another model is refused, and so is KV that no forward computes") {
  const auto shared = golden_model(kShared), own = golden_model(kOwn);
  const auto kv = shared->make_kv(8), other = own->make_kv(8);
  const std::vector<std::int32_t> ids = some_ids(4), zero = {0};
  CHECK_THROWS_AS(last_logits(*shared, *other, ids), Error);
  CHECK_FALSE(dynamic_cast<KvCopies&>(*kv).copy_from(*other, {}, {}, zero));
  const std::vector<float> values(512);
  for (const char* name : {kShared, kConvolutions})
    for (const bool reference : {false, true})
      CHECK(refusal(ErrorCode::kNotSupported, [&] {
              golden_model(name, {.reference_kernels = reference})
                  ->make_kv(8)
                  ->write(zero, values, values);
            }).find("layers with K and V of one width") != std::string::npos);
}

TEST_CASE("uneven KV: a layer that is left out gives K and V to those that read its") {
  const auto whole = golden_model(kShared);
  const auto reference = golden_model(kShared, {.reference_kernels = true});
  const auto ids = some_ids(40);
  // All but layers 2 and 3, which layers 4 to 6 read; the first four; one that reads alone.
  for (const Layers& kept :
       {Layers{0, 1, 4, 5, 6}, Layers{0, 1, 2, 3}, Layers{6}, Layers{0, 2, 3, 4, 5, 6}}) {
    CAPTURE(kept);
    LayerSubset part(*whole, sublayers_of(kept)), same(*reference, sublayers_of(kept));
    const std::vector<float> logits = logits_of(part, ids);
    CHECK(max_difference(logits, logits_of(same, ids)) < 1e-4);
    // In steps, after KV of the same storage for other layers.
    const auto kv = part.make_kv(40);
    CHECK(kv->bytes_per_slot() == whole->make_kv(1)->bytes_per_slot());
    last_logits(part, *kv, std::vector(ids.begin(), ids.begin() + 20));
    std::vector<float> stepped;
    for (int i = 20; i < 40; ++i)
      stepped = step_logits(part, *kv, i, ids[static_cast<std::size_t>(i)]);
    CHECK(std::memcmp(stepped.data(), logits.data() + logits.size() - stepped.size(),
                      stepped.size() * sizeof(float)) == 0);
  }
  LayerSubset all(*whole, all_but(14, {}));
  CHECK(logits_of(all, ids) == logits_of(*whole, ids));
}

TEST_CASE(
    "uneven KV: a part of a model with convolutions gives libtorch's logits, at once and in steps") {
  const auto whole = golden_model(kConvolutions),
             reference = golden_model(kConvolutions, {.reference_kernels = true});
  const auto ids = some_ids(20);
  // Parts by number: 2i mixes rows in layer i, 2i + 1 is its MLP.
  for (const Layers& kept : {Layers{0, 1, 4, 5}, Layers{1, 2, 4, 7}, Layers{0, 3, 6}, Layers{4}}) {
    CAPTURE(kept);
    LayerSubset part(*whole, kept), same(*reference, kept);
    const std::vector<float> logits = logits_of(part, ids);
    CHECK(max_difference(logits, logits_of(same, ids)) < 1e-4);
    const auto kv = part.make_kv(20);
    std::vector<float> stepped;
    for (int i = 0; i < 20; ++i)
      stepped = step_logits(part, *kv, i, ids[static_cast<std::size_t>(i)]);
    CHECK(std::memcmp(stepped.data(), logits.data() + logits.size() - stepped.size(),
                      stepped.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("uneven KV: the first layers take over the whole model's K and V, bit for bit") {
  for (const char* name : {kShared, kConvolutions}) {
    CAPTURE(name);
    const auto whole = golden_model(name);
    const Layers first = {0, 1, 2, 3};
    LayerSubset part(*whole, sublayers_of(first));
    const auto ids = some_ids(30);
    const std::vector<std::int32_t> begin(ids.begin(), ids.end() - 1);
    const auto whole_kv = whole->make_kv(30), taken = part.make_kv(30);
    all_logits(*whole, *whole_kv, begin);
    const std::vector<std::int32_t> slots = iota(29);
    REQUIRE(dynamic_cast<KvCopies&>(*taken).copy_from(*whole_kv, slots, slots, first));
    const std::vector<float> expected = logits_of(part, ids);
    const std::vector<float> last = step_logits(part, *taken, 29, ids.back());
    CHECK(std::memcmp(last.data(), expected.data() + expected.size() - last.size(),
                      last.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("layer route: where rows go, and where K and V lie") {
  const auto config = [](const std::string& more) {
    return formats::config_from_json(
        R"({"model_type":"gemma4_text","hidden_size":64,"num_attention_heads":4,"num_key_value_heads":2,
            "intermediate_size":128,"vocab_size":100,"num_hidden_layers":4,"head_dim":16,"layer_types":
            ["sliding_attention","full_attention","sliding_attention","full_attention"])" +
            more + "}",
        "", "config.json");
  };
  const auto route = [](const formats::ModelConfig& of, const Layers& parts,
                        std::size_t kv_layers = 4) {
    std::string text;
    for (const RouteStep& step : layer_route(of, parts, kv_layers))
      text += (text.empty() ? "" : " ") + std::to_string(step.layer) +
              (step.stores ? "@" + std::to_string(step.stored) : "") +
              (!step.attends && step.stores ? "kv" : "") +
              (step.attends && step.mlp ? ""
               : step.mlp               ? "mlp"
               : step.attends           ? "attention"
                                        : "");
    return text;
  };
  const auto widths = [](const formats::ModelConfig& of) {
    std::vector<int> values;
    for (const formats::KvShape& shape : stored_shapes(of, 2)) {
      CHECK(shape.value_values() == shape.key_values());
      values.push_back(shape.key_values());
    }
    return values;
  };
  const auto even = config(R"(,"global_head_dim":16)"),
             shared = config(R"(,"num_kv_shared_layers":2)");
  CHECK(route(even, {}) == "0@0 1@1 2@2 3@3");
  CHECK(route(even, {2, 3, 6, 7}, 2) == "1@0 3@1");
  CHECK(route(even, {2, 3, 6, 7}) == "1@1 3@3");
  CHECK(route(even, {0, 1, 3, 6}, 2) == "0@0 1mlp 3@1attention");
  CHECK(route(even, {0, 1, 3, 6}) == "0@0 1mlp 3@3attention");
  CHECK(widths(even) == std::vector<int>{32, 32});
  CHECK(route(shared, {}) == "0@0 1@1 2@0 3@1");
  CHECK(route(shared, {2, 3, 4, 5}) == "0@0kv 1@1 2@0");
  CHECK(route(shared, {0, 1, 2, 3}) == "0@0 1@1");
  CHECK(route(shared, {1, 2, 3, 4}) == "0@0kvmlp 1@1 2@0attention");
  CHECK(widths(shared) == std::vector<int>{32, 1024, 0, 0});
}

}  // namespace triescope::test::test_uneven_kv

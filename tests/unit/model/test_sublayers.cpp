// The attention or the MLP of a layer alone left out: against a file in which that part adds nothing, its KV,
// what is refused.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/model/kv_copies.h"
#include "core/model/layer_subset.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_sublayers {
namespace {

using Numbers = std::vector<std::int32_t>;

std::unique_ptr<Model> model_of(const nlohmann::json& entry, bool reference = false) {
  const TempDir folder;
  write_golden_model(entry, folder.path());
  LoadOptions options;
  options.reference_kernels = reference;
  options.threads = 2;
  return load_model(folder.path().string(), options);
}

// The case with zeros where a part that is left out would write into the stream.
nlohmann::json silenced(nlohmann::json entry, const Numbers& left_out) {
  for (nlohmann::json& tensor : entry["tensors"]) {
    const std::string name = tensor[0];
    for (const std::int32_t part : left_out) {
      const std::string layer = "layers." + std::to_string(layer_of(part)) + ".";
      const auto at = name.find(layer);
      if (at == std::string::npos) continue;
      const std::string rest = name.substr(at + layer.size());
      const bool writes = is_attention(part)
                              ? rest.starts_with("self_attn.o_proj") ||
                                    rest.starts_with("self_attn.dense") ||
                                    rest.starts_with("attention.dense.")
                              : rest.starts_with("mlp.down_proj") || rest.starts_with("mlp.fc2") ||
                                    rest.starts_with("mlp.dense_4h_to_h") ||
                                    rest.find(".w2.") != std::string::npos ||
                                    rest.find("down_proj") != std::string::npos;
      if (writes) tensor[3] = 0.0;
    }
  }
  return entry;
}

Numbers some_ids(const Model& model, int count) {
  Numbers ids;
  for (int i = 0; i < count; ++i) ids.push_back((i * 7 + 3) % model.info().vocab_size);
  return ids;
}
std::vector<float> logits_of(Model& model, const Numbers& ids) {
  const auto kv = model.make_kv(static_cast<int>(ids.size()));
  return all_logits(model, *kv, ids);
}

TEST_CASE("sublayers: a number is a layer's attention or its MLP, and lists of them name layers") {
  const Numbers layers = {0, 3}, parts = {0, 1, 3, 6};
  CHECK(sublayers_of(layers) == Numbers{0, 1, 6, 7});
  CHECK(layers_with_attention(parts) == Numbers{0, 3});
  CHECK(all_but(8, parts) == Numbers{2, 4, 5, 7});
}

TEST_CASE(
    "sublayers: a part that is left out gives the logits of a file in which it adds nothing") {
  for (const auto& [name, left_out] :
       std::vector<std::pair<std::string, Numbers>>{{"llama", {2}},
                                                    {"llama", {3}},
                                                    {"llama", {0, 3, 6}},
                                                    {"llama tied, biases, head_dim", {1, 4, 5}},
                                                    {"qwen3", {2, 5}},
                                                    {"gemma2", {1, 2}},
                                                    {"gemma2", {3, 4}},
                                                    {"olmo2", {2, 5}},
                                                    {"gpt_neox", {0, 3, 6}},
                                                    {"phi", {0, 3}},
                                                    {"phi", {2, 5}},
                                                    {"cohere2", {1, 4}},
                                                    {"mixtral", {3, 4}},
                                                    {"qwen3_moe", {0, 5}}}) {
    CAPTURE(name);
    CAPTURE(left_out);
    const nlohmann::json entry = golden_families()["cases"].at(name);
    const auto silent = model_of(silenced(entry, left_out));
    const auto ids = some_ids(*silent, 20);
    const auto expected = logits_of(*silent, ids);
    CHECK(max_difference(logits_of(*model_of(entry), ids), expected) > 1e-3);
    const Numbers kept = all_but(2 * silent->info().layers, left_out);
    for (const bool reference : {false, true}) {
      CAPTURE(reference);
      const auto whole = model_of(entry, reference);
      for (const auto kv_of : {LayerSubset::KvOf::kParts, LayerSubset::KvOf::kAllLayers}) {
        LayerSubset part(*whole, kept, kv_of);
        const auto found = logits_of(part, ids);
        if (reference)
          CHECK(max_difference(found, expected) < 1e-3);
        else
          CHECK(found == expected);
        // Step by step over its own KV.
        const auto kv = part.make_kv(20);
        last_logits(part, *kv, Numbers(ids.begin(), ids.begin() + 17));
        std::vector<float> stepped;
        for (int i = 17; i < 20; ++i)
          stepped = step_logits(part, *kv, i, ids[static_cast<std::size_t>(i)]);
        const std::vector<float> last(expected.end() - static_cast<std::ptrdiff_t>(stepped.size()),
                                      expected.end());
        CHECK(max_difference(stepped, last) < (reference ? 1e-3 : 1e-9));
      }
    }
  }
}

TEST_CASE("sublayers: KV is that of the attention that stays, or of every layer") {
  const auto whole = model_of(golden_families()["cases"].at("llama"));
  const Numbers kept = all_but(8, Numbers{2, 3, 5, 6});
  LayerSubset part(*whole, kept), all(*whole, kept, LayerSubset::KvOf::kAllLayers);
  CHECK(part.info().name.starts_with("2 of 4 layers of "));
  CHECK(part.info().layers == 2);
  CHECK(part.left_out() == Numbers{2, 3, 5, 6});
  CHECK(part.kv_layers() == Numbers{0, 2});
  CHECK(all.kv_layers() == Numbers{0, 1, 2, 3});
  const std::int64_t bytes = whole->make_kv(4)->bytes_per_slot();
  CHECK(part.make_kv(4)->bytes_per_slot() == bytes / 2);
  CHECK(all.make_kv(4)->bytes_per_slot() == bytes);
}

TEST_CASE("sublayers: a list changes where the storage has room for its attention") {
  const auto whole = model_of(golden_families()["cases"].at("llama"));
  const Numbers first = all_but(8, Numbers{2, 3}), attention = all_but(8, Numbers{2, 4}),
                mlp = all_but(8, Numbers{3, 5});
  LayerSubset part(*whole, first), all(*whole, first, LayerSubset::KvOf::kAllLayers);
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { part.set_sublayers(attention); }) ==
        "layers: expected attention in 3, as many as there is KV for, found 2");
  const auto ids = some_ids(*whole, 12);
  const Numbers text(ids.begin(), ids.end() - 1);
  const auto of_whole = whole->make_kv(12), kv = all.make_kv(12);
  all_logits(*whole, *of_whole, text);
  Numbers slots;
  for (std::int32_t i = 0; i < 11; ++i) slots.push_back(i);
  for (const Numbers& list : {attention, mlp}) {
    all.set_sublayers(list);
    CHECK(all.sublayers() == list);
    REQUIRE(dynamic_cast<KvCopies&>(*kv).copy_from(*of_whole, slots, slots, all.kv_layers()));
    const auto found = step_logits(all, *kv, 11, ids.back());
    // The same row over a storage of its own layers alone.
    LayerSubset alone(*whole, list);
    const auto own = alone.make_kv(12);
    REQUIRE(dynamic_cast<KvCopies&>(*own).copy_from(*of_whole, slots, slots, alone.kv_layers()));
    CHECK(step_logits(alone, *own, 11, ids.back()) == found);
  }
}

TEST_CASE(
    "sublayers: parts that are not there or not in order are refused, and no attention at all") {
  const auto whole = model_of(golden_families()["cases"].at("llama"));
  const auto why = [&](const Numbers& parts) {
    return refusal(ErrorCode::kInvalidArgument, [&] { LayerSubset(*whole, parts); });
  };
  CHECK(why({1, 3}) == "layers: expected the attention of at least one to stay, found none");
  for (const Numbers& parts : {Numbers{0, 8}, Numbers{-2, 0}, Numbers{2, 1}, Numbers{2, 2}})
    CHECK(
        why(parts).starts_with("layers: expected parts of them in ascending numbers from 0 to 7"));
}

}  // namespace
}  // namespace triescope::test::test_sublayers

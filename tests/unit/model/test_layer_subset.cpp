// A part of a model's layers against a file that has only those layers, bit for bit; a path over a tree; what
// is refused.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/model/kv_copies.h"
#include "core/model/layer_subset.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_layer_subset {
namespace {

using Layers = std::vector<std::int32_t>;

// The case with these layers alone, numbered from 0.
void write_part(const nlohmann::json& entry, const Layers& layers,
                const std::filesystem::path& folder) {
  nlohmann::json config = entry["config"], header = nlohmann::json::object();
  config["num_hidden_layers"] = layers.size();
  std::ofstream(folder / "config.json") << config.dump();
  std::string data;
  const std::string prefix = "model.layers.";
  for (std::size_t index = 0; index < entry["tensors"].size(); ++index) {
    std::string name = entry["tensors"][index][0];
    if (name.starts_with(prefix)) {
      const std::string rest = name.substr(prefix.size());
      const auto at = std::ranges::find(layers, std::stoi(rest));
      if (at == layers.end()) continue;
      name = prefix + std::to_string(at - layers.begin()) + rest.substr(rest.find('.'));
    }
    const std::vector<float> values = golden_values(entry["tensors"], index);
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    header[name] = {{"dtype", "F32"},
                    {"shape", entry["tensors"][index][1]},
                    {"data_offsets", {begin, data.size()}}};
  }
  write_weights(folder, header, data);
}

std::unique_ptr<Model> loaded(const std::filesystem::path& folder, bool reference = false) {
  LoadOptions options;
  options.reference_kernels = reference;
  options.threads = 2;
  return load_model(folder.string(), options);
}
std::unique_ptr<Model> whole_model(const std::string& name, bool reference = false) {
  const TempDir folder;
  write_golden_model(golden_families()["cases"].at(name), folder.path());
  return loaded(folder.path(), reference);
}

std::vector<std::int32_t> some_ids(const Model& model, int count) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) ids.push_back((i * 7 + 3) % model.info().vocab_size);
  return ids;
}
std::vector<float> logits_of(Model& model, const std::vector<std::int32_t>& ids) {
  const auto kv = model.make_kv(static_cast<int>(ids.size()));
  return all_logits(model, *kv, ids);
}

TEST_CASE(
    "layer subset: a part of the layers gives the logits of a file with those layers, bit for bit") {
  for (const auto& [name, kept] :
       std::vector<std::pair<std::string, Layers>>{{"llama", {0, 2}},
                                                   {"llama", {1, 3}},
                                                   {"llama", {0, 1, 2}},
                                                   {"llama tied, biases, head_dim", {3}},
                                                   {"qwen3", {0, 3}},
                                                   {"smollm3", {0, 1}},
                                                   {"gemma2", {0, 1}}}) {
    CAPTURE(name);
    CAPTURE(kept);
    const auto whole = whole_model(name);
    const TempDir folder;
    write_part(golden_families()["cases"].at(name), kept, folder.path());
    const auto file = loaded(folder.path());
    LayerSubset part(*whole, sublayers_of(kept));
    CHECK(part.info().layers == static_cast<int>(kept.size()));
    const auto ids = some_ids(*whole, 20);
    const auto expected = logits_of(*file, ids);
    const auto found = logits_of(part, ids);
    REQUIRE(found.size() == expected.size());
    CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
    CHECK(part.make_kv(4)->bytes_per_slot() == file->make_kv(4)->bytes_per_slot());
    // Step by step over its own KV, while the whole model runs in between.
    const auto kv = part.make_kv(20), other = whole->make_kv(20);
    const std::vector<std::int32_t> start(ids.begin(), ids.begin() + 12);
    last_logits(part, *kv, start);
    last_logits(*whole, *other, start);
    std::vector<float> stepped;
    for (int i = 12; i < 20; ++i) {
      step_logits(*whole, *other, i, ids[static_cast<std::size_t>(i)]);
      stepped = step_logits(part, *kv, i, ids[static_cast<std::size_t>(i)]);
    }
    CHECK(std::memcmp(stepped.data(), expected.data() + expected.size() - stepped.size(),
                      stepped.size() * sizeof(float)) == 0);
    // And through libtorch.
    const auto reference = whole_model(name, true);
    LayerSubset same(*reference, sublayers_of(kept));
    CHECK(max_difference(logits_of(same, ids), expected) < 1e-3);
  }
}

TEST_CASE("layer subset: all layers are the model itself") {
  const auto whole = whole_model("llama");
  LayerSubset all(*whole, sublayers_of(Layers{0, 1, 2, 3}));
  const auto ids = some_ids(*whole, 9);
  CHECK(logits_of(all, ids) == logits_of(*whole, ids));
}

TEST_CASE(
    "layer subset: SmolLM2 without layers 12 to 19 is the draft model that set-up makes of it") {
  const auto path = model_path();
  const auto draft = source_dir() / ".deps" / "draft" / "smollm2-22-layers.gguf";
  if (!path || !std::filesystem::exists(draft))
    TRIESCOPE_SKIP("SmolLM2 and the draft model of it are not installed; scripts/setup does");
  const auto whole = load_model(path->string());
  const auto file = load_model(draft.string());
  Layers kept;
  for (int i = 0; i < 30; ++i)
    if (i < 12 || i > 19) kept.push_back(i);
  LayerSubset part(*whole, sublayers_of(kept));
  const auto ids = some_ids(*whole, 24);
  const auto kv = part.make_kv(24), of_file = file->make_kv(24);
  CHECK(last_logits(part, *kv, ids) == last_logits(*file, *of_file, ids));
}

TEST_CASE(
    "layer subset: layers that are not there, not in order or none are refused, and another model's KV is") {
  const auto whole = whole_model("llama");
  const auto why = [&](const Layers& layers) {
    return refusal(ErrorCode::kInvalidArgument, [&] { LayerSubset(*whole, sublayers_of(layers)); });
  };
  CHECK(why({}) == "layers: expected the attention of at least one to stay, found none");
  for (const Layers& layers : {Layers{4}, Layers{-1}, Layers{2, 1}, Layers{1, 1}})
    CHECK(why(layers).starts_with(
        "layers: expected parts of them in ascending numbers from 0 to 7, found "));
  LayerSubset part(*whole, sublayers_of(Layers{0, 2}));
  LayerSubset fewer(*whole, sublayers_of(Layers{1}));
  const auto of_fewer = fewer.make_kv(8), of_part = part.make_kv(8);
  const auto ids = some_ids(*whole, 4);
  CHECK_THROWS_AS(last_logits(part, *of_fewer, ids), Error);
  CHECK_THROWS_AS(last_logits(*whole, *of_part, ids), Error);
  // Room for every layer is room for some.
  const auto of_whole = whole->make_kv(8), own = part.make_kv(8);
  CHECK(last_logits(part, *of_whole, ids) == last_logits(part, *own, ids));
  // No hidden states of a part.
  const std::vector<std::int32_t> order = iota(4), layer = {1}, last = {3};
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = order;
  batch.feature_layers = layer;
  batch.feature_rows = last;
  CHECK_THROWS_AS(part.forward(batch, *of_part, {}), Error);
}

TEST_CASE("layer subset: KV of the whole model's first layers is what they compute, bit for bit") {
  const auto whole = whole_model("llama");
  const Layers first = {0};
  LayerSubset part(*whole, sublayers_of(first));
  const std::vector<std::int32_t> ids = some_ids(*whole, 12);
  const auto whole_kv = whole->make_kv(12), own = part.make_kv(12), taken = part.make_kv(16);
  all_logits(*whole, *whole_kv, std::vector(ids.begin(), ids.end() - 1));
  all_logits(part, *own, std::vector(ids.begin(), ids.end() - 1));
  auto& copies = dynamic_cast<KvCopies&>(*taken);
  std::vector<std::int32_t> from, to;
  for (std::int32_t i = 0; i < 11; ++i) {
    from.push_back(i);
    to.push_back(15 - i);  // a slot's number means nothing
  }
  REQUIRE(copies.copy_from(*whole_kv, from, to, first));
  const auto last_row = [&](KvStorage& kv, const std::vector<std::int32_t>& seen,
                            std::int32_t slot) {
    const std::vector<std::int32_t> token = {ids.back()}, position = {11}, slots = {slot},
                                    row = {0};
    ForwardBatch batch;
    batch.tokens = token;
    batch.positions = position;
    batch.slots = slots;
    batch.prefix_slots = seen;
    batch.logit_rows = row;
    const LogitsRow logits = part.forward(batch, kv, {}).row(0);
    return std::vector<float>(logits.begin(), logits.end());
  };
  CHECK(last_row(*own, from, 11) == last_row(*taken, to, 2));
  const auto other = whole_model("llama tied, biases, head_dim");
  CHECK_FALSE(copies.copy_from(*other->make_kv(4), {}, {}, first));
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          copies.copy_from(*whole_kv, {}, {}, {});
        }).starts_with("kv: expected a layer of the other storage for each of this one's 1"));
  const std::vector<std::int32_t> beyond = {12}, zero = {0};
  CHECK_FALSE(refusal(ErrorCode::kInvalidArgument, [&] {
                copies.copy_from(*whole_kv, beyond, zero, first);
              }).empty());
}

}  // namespace
}  // namespace triescope::test::test_layer_subset

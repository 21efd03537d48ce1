// How much a forward launches on the CUDA path, counted where no GPU is: our kernels by the
// stand-in, libtorch's operations by its own callbacks for profilers (at::RecordFunction), which
// see every operation that goes through its dispatcher.
#include <ATen/record_function.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/model/heads/draft_head.h"
#include "core/model/transformer.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test::test_launches {
namespace {

using nlohmann::json;
using Counts = std::map<std::string, int>;

Counts operations;  // since somebody cleared it

std::unique_ptr<at::ObserverContext> count_operation(const at::RecordFunction& function) {
  ++operations[function.name()];
  return nullptr;
}

// What launches nothing on a GPU: memory, other views of it, and operations that only call others,
// which are counted themselves. Whatever is not in this list counts.
bool launches_nothing(const std::string& name) {
  static const std::set<std::string> names = {"aten::empty",
                                              "aten::empty_like",
                                              "aten::empty_strided",
                                              "aten::view",
                                              "aten::narrow",
                                              "aten::slice",
                                              "aten::t",
                                              "aten::transpose",
                                              "aten::select",
                                              "aten::unsqueeze",
                                              "aten::as_strided",
                                              "aten::permute",
                                              "aten::linear",
                                              "aten::matmul",
                                              "aten::reshape",
                                              "aten::_unsafe_view",
                                              "aten::expand",
                                              "aten::to",
                                              "aten::result_type",
                                              "aten::resolve_conj",
                                              "aten::detach"};
  return names.contains(name);
}

Counts kernel_launches() {
  void* module = dlopen(TRIESCOPE_CUDA_STAND_IN, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE((module != nullptr));
  auto* told = reinterpret_cast<const char* (*)()>(dlsym(module, "triescope_stand_in_launches"));
  REQUIRE((told != nullptr));
  Counts counts;
  std::istringstream lines(told());
  for (std::string line; std::getline(lines, line);) ++counts[line.substr(0, line.find('<'))];
  dlclose(module);
  return counts;
}

struct Launches {
  Counts kernels, operations;
};

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  return text;
}

// Of one forward of three rows; `features`: what they read beside their tokens.
Launches launches_of_forward(Model& model, std::span<const float> features = {}) {
  const auto kv = model.make_kv(3);
  const std::vector<std::int32_t> ids = {5, 9, 2}, order = iota(3);
  ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = batch.logit_rows = order;
  batch.input_features = features;
  kernel_launches();
  operations.clear();
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(count_operation).scopes({at::RecordScope::FUNCTION}));
  model.forward(batch, *kv);
  at::removeCallback(handle);
  Launches launches{kernel_launches(), {}};
  for (const auto& [name, count] : operations) {
    if (!launches_nothing(name)) launches.operations[name] = count;
  }
  return launches;
}

Launches launches_of_file(const std::string& path, int layers, DType dtype) {
  const auto model = load_torch_model(path, dtype);
  REQUIRE(model->info().layers == layers);
  return launches_of_forward(*model);
}

// Of one forward of three rows over the first `layers` layers of a golden model.
Launches launches_of(json entry, int layers, DType dtype) {
  entry["config"]["num_hidden_layers"] = layers;
  if (entry["config"].contains("layer_types"))
    entry["config"]["layer_types"].get_ref<json::array_t&>().resize(
        static_cast<std::size_t>(layers));
  if (entry["config"].contains("n_layer")) entry["config"]["n_layer"] = layers;
  // A file with more layers than its config is refused.
  json kept = json::array();
  for (const json& tensor : entry["tensors"]) {
    const auto name = tensor[0].get<std::string>();
    std::size_t at = name.find("layers.");
    at = at == std::string::npos ? name.find("h.") + 2 : at + 7;
    if (name.find("layers.") == std::string::npos && !name.starts_with("h.") &&
        name.find(".h.") == std::string::npos)
      kept.push_back(tensor);
    else if (std::stoi(name.substr(at)) < layers)
      kept.push_back(tensor);
  }
  entry["tensors"] = std::move(kept);
  const TempDir folder;
  write_golden_model(entry, folder.path());
  return launches_of_file(folder.path().string(), layers, dtype);
}

Counts difference(const Counts& more, const Counts& less) {
  Counts left;
  for (const auto& [name, count] : more) {
    const auto found = less.find(name);
    const int rest = count - (found == less.end() ? 0 : found->second);
    if (rest != 0) left[name] = rest;
  }
  for (const auto& [name, count] : less) {
    if (!more.contains(name)) left[name] = -count;
  }
  return left;
}

// What one layer more launches.
Launches launches_of_a_layer(const json& entry, DType dtype) {
  const Launches three = launches_of(entry, 3, dtype), two = launches_of(entry, 2, dtype);
  return {difference(three.kernels, two.kernels), difference(three.operations, two.operations)};
}

TEST_CASE("CUDA path: a layer is ten launches, four of them libtorch's products") {
  const json golden = golden_families()["cases"];
  for (const char* name : {"llama", "mistral", "qwen3", "gemma2", "phi3"}) {
    for (const DType dtype : {DType::kBF16, DType::kF32}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      const Launches layer = launches_of_a_layer(golden.at(name), dtype);
      CHECK(text_of(layer.kernels) ==
            "2 add_norm, 1 attention_combine, 1 attention_partitions, 1 gated_activation, 1 "
            "split_qkv_heads");
      CHECK(text_of(layer.operations) == "4 aten::mm");
    }
  }
}

TEST_CASE("CUDA path: biases go into the products") {
  const Launches layer = launches_of_a_layer(golden_families()["cases"]["gpt2"], DType::kBF16);
  CHECK(text_of(layer.kernels) ==
        "2 add_norm, 1 attention_combine, 1 attention_partitions, 1 gated_activation, 1 "
        "split_qkv_heads");
  // On a CPU libtorch's addmm begins with a copy of its bias.
  CHECK(text_of(layer.operations) == "4 aten::addmm, 4 aten::copy_");
}

TEST_CASE("CUDA path: besides its layers a forward launches the ends of the model alone") {
  const json entry = golden_families()["cases"]["llama"];
  const Launches two = launches_of(entry, 2, DType::kBF16),
                 layer = launches_of_a_layer(entry, DType::kBF16);
  const Counts twice = difference(two.kernels, layer.kernels);
  // The first layer's norm goes with the embedding, the final one stands alone.
  CHECK(text_of(difference(twice, layer.kernels)) == "1 block_linear, 1 embed_norm");
  const Counts ends = difference(difference(two.operations, layer.operations), layer.operations);
  // Logits are of fp32 at once; tokens and lists to the device, rotary tables to it, logits from it.
  CHECK(text_of(ends) == "3 aten::copy_, 1 aten::index_select");
}

TEST_CASE("CUDA path: scales and positions of the embedding launch nothing of their own") {
  const json golden = golden_families()["cases"];
  for (const char* name : {"gemma2", "gpt2"}) {
    const Launches three = launches_of(golden.at(name), 3, DType::kBF16),
                   layer = launches_of_a_layer(golden.at(name), DType::kBF16);
    CAPTURE(name);
    CHECK(three.kernels.at("embed_norm") == 1);
    CHECK(three.kernels.at("add_norm") == 3 * 2);
    // The rows whose logits are asked for.
    CHECK(three.operations.at("aten::index_select") == 1);
    CHECK(!layer.operations.contains("aten::index_select"));
  }
}

TEST_CASE("CUDA path: a layer in blocks is as many launches, neighbours of one type being one") {
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  const auto launches = [&](const auto& type_of) {
    std::ofstream(path, std::ios::binary) << llama_file(type_of, 11);
    return launches_of_file(path, 2, DType::kBF16);
  };
  // Two layers of four products, and the output head; the embedding.
  const auto one_type = [](const std::string&) { return formats::GgmlType::kQ4_K; };
  const Launches same = launches(one_type);
  CHECK(same.kernels.at("block_linear") == 2 * 4 + 1);
  CHECK(same.kernels.at("embed_norm") == 1);
  CHECK(!same.kernels.contains("block_rows"));
  // The rows whose logits are asked for; two copies to the device and one from it.
  CHECK(text_of(same.operations) == "3 aten::copy_, 1 aten::index_select");
  // q and k are one run of rows, v another.
  const Launches other_v = launches([&](const std::string& name) {
    return name.ends_with("attn_v.weight") ? formats::GgmlType::kQ6_K : one_type(name);
  });
  CHECK(other_v.kernels.at("block_linear") == 2 * 5 + 1);
}

// `width`: of what a row of the head reads.
Launches launches_of_head(const std::string& name, std::size_t width) {
  const std::string folder = (source_dir() / "tests" / "fixtures" / "draft_heads").string() + "/";
  const auto target = load_torch_model(folder + "target", DType::kBF16);
  const auto head = load_draft_head(folder + name, *target, 1);
  const std::vector<float> features(3 * width, 0.5f);
  return launches_of_forward(*head->layers, features);
}

TEST_CASE("CUDA path: a further layer of a draft head is ten launches too") {
  const Launches two = launches_of_head("eagle3-two-layers", 48),
                 one = launches_of_head("eagle3", 48);
  CHECK(text_of(difference(two.kernels, one.kernels)) ==
        "2 add_norm, 1 attention_combine, 1 attention_partitions, 1 gated_activation, 1 "
        "split_qkv_heads");
  CHECK(text_of(difference(two.operations, one.operations)) == "4 aten::mm");
}

TEST_CASE("CUDA path: a forward of an EAGLE-3 head from target states, and from drafted ones") {
  const Launches target = launches_of_head("eagle3", 48), drafted = launches_of_head("eagle3", 16);
  // Of the embedding and of the state; before the MLP; the final one.
  CHECK(text_of(drafted.kernels) ==
        "4 add_norm, 1 attention_combine, 1 attention_partitions, 1 gated_activation, 1 "
        "split_qkv_heads");
  CHECK(text_of(target.kernels) == text_of(drafted.kernels));
  CHECK(text_of(difference(target.operations, drafted.operations)) == "1 aten::mm");  // fc
  // The layer's four products and the output head; embeddings, the rows whose logits are asked for,
  // the two inputs side by side; states to bf16, logits to fp32 and to the target's ids; lists,
  // rotary tables and states to the device, logits from it.
  CHECK(text_of(drafted.operations) ==
        "2 aten::_to_copy, 1 aten::cat, 6 aten::copy_, 1 aten::fill_, 1 aten::full, 1 "
        "aten::index_copy_, 2 aten::index_select, 5 aten::mm");
}

}  // namespace
}  // namespace triescope::test::test_launches

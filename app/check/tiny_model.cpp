#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/check/check.h"
#include "app/check/difference.h"
#include "app/session/folders.h"
#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/rng.h"
#include "core/model/model.h"

namespace triescope::app {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Values = std::vector<float>;

constexpr int kHidden = 64, kInner = 160, kHeads = 4, kKvHeads = 2, kVocab = 512, kLayers = 2;
constexpr std::int32_t kPrompt = 140;  // more than one partition of the CUDA attention (128 slots)
constexpr std::int32_t kTinyRows = 4;

void write_llama(const std::filesystem::path& folder) {
  const int kv = kHidden / kHeads * kKvHeads;
  std::vector<std::pair<std::string, std::vector<int>>> tensors = {
      {"model.embed_tokens.weight", {kVocab, kHidden}}, {"model.norm.weight", {kHidden}}};
  for (int i = 0; i < kLayers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      tensors.push_back({layer + norm + ".weight", {kHidden}});
    tensors.push_back({layer + "self_attn.q_proj.weight", {kHidden, kHidden}});
    tensors.push_back({layer + "self_attn.k_proj.weight", {kv, kHidden}});
    tensors.push_back({layer + "self_attn.v_proj.weight", {kv, kHidden}});
    tensors.push_back({layer + "self_attn.o_proj.weight", {kHidden, kHidden}});
    tensors.push_back({layer + "mlp.gate_proj.weight", {kInner, kHidden}});
    tensors.push_back({layer + "mlp.up_proj.weight", {kInner, kHidden}});
    tensors.push_back({layer + "mlp.down_proj.weight", {kHidden, kInner}});
  }
  Rng rng(5);
  Values values;
  ordered_json header;
  for (const auto& [name, shape] : tensors) {
    const std::size_t begin = values.size();
    const std::int64_t count = shape.size() == 2 ? std::int64_t{shape[0]} * shape[1] : shape[0];
    // Norms are about 1, and matrices keep a row's length.
    for (std::int64_t i = 0; i < count; ++i) {
      const double u = 2 * rng.uniform() - 1;
      values.push_back(static_cast<float>(
          shape.size() == 1 ? 1 + 0.2 * u : u * std::sqrt(3.0 / static_cast<double>(shape[1]))));
    }
    header[name] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {4 * begin, 4 * values.size()}}};
  }
  std::ofstream(folder / "config.json") << json{{"model_type", "llama"},
                                                {"hidden_size", kHidden},
                                                {"intermediate_size", kInner},
                                                {"num_attention_heads", kHeads},
                                                {"num_key_value_heads", kKvHeads},
                                                {"num_hidden_layers", kLayers},
                                                {"vocab_size", kVocab},
                                                {"max_position_embeddings", 1024},
                                                {"tie_word_embeddings", true}};
  const std::string text = dump_json(header);
  const std::uint64_t size = text.size();
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file << text;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  file.close();
  if (!file)
    throw Error(ErrorCode::kIoError,
                folder.string() + ": a model of 1 MB cannot be written; set TMPDIR to a folder " +
                    "with room");
}

// Logits after the prompt, then of `rows` rows that all follow it: [1 + rows, kVocab].
Values run(Model& model, std::int32_t rows) {
  const std::unique_ptr<KvStorage> kv = model.make_kv(kPrompt + rows);
  const auto order = count_up(kPrompt + kTinyRows);
  std::vector<std::int32_t> tokens(order.size());
  for (const std::int32_t i : order) tokens[static_cast<std::size_t>(i)] = (i * 37 + 11) % kVocab;
  const std::span<const std::int32_t> all(order), ids(tokens);
  const std::int32_t last = kPrompt - 1;
  ForwardBatch prompt;
  prompt.tokens = ids.first(kPrompt);
  prompt.positions = prompt.slots = all.first(kPrompt);
  prompt.logit_rows = {&last, 1};
  const auto count = static_cast<std::size_t>(rows);
  Values logits;
  const auto keep = [&](const ForwardOutput& output) {
    logits.insert(logits.end(), output.logits.begin(), output.logits.end());
  };
  keep(model.forward(prompt, *kv));
  const std::vector<std::int32_t> positions(count, kPrompt);
  ForwardBatch step;
  step.tokens = ids.subspan(kPrompt, count);
  step.positions = positions;
  step.slots = step.own_slots = all.subspan(kPrompt, count);
  step.own_offsets = all.first(count + 1);
  step.prefix_slots = all.first(kPrompt);
  step.logit_rows = all.first(count);
  keep(model.forward(step, *kv));
  return logits;
}

}  // namespace

std::vector<CheckComparison> check_tiny_model(const std::string& device, int threads) {
  const ScratchFolder folder("check");
  write_llama(folder.path());
  const auto load = [&](const std::string& where, DType dtype, bool reference) {
    LoadOptions options;
    options.device = where;
    options.dtype = dtype;
    options.reference_kernels = reference;
    options.threads = threads;
    return load_model(folder.path().string(), options);
  };
  const Values expected = run(*load("cpu", DType::kF32, true), kTinyRows);

  std::vector<CheckComparison> found;
  const auto compare = [&](const std::string& where, DType dtype, bool reference, double allowed) {
    CheckComparison& one = found.emplace_back();
    one.where = where + ", " + to_string(dtype);
    one.what = reference ? "a tiny model, libtorch's operations" : "a tiny model, our kernels";
    one.allowed = allowed;
    try {
      one.difference =
          relative_difference(run(*load(where, dtype, reference), kTinyRows), expected);
    } catch (const std::exception& error) {
      one.error = error.what();
    }
  };
  compare("cpu", DType::kF32, false, 1e-4);
  {
    CheckComparison& company = found.emplace_back();
    company.where = "cpu, f32";
    company.what = "a row's logits beside other rows and alone, to the bit";
    const std::unique_ptr<Model> model = load("cpu", DType::kF32, false);
    const Values alone = run(*model, 1), beside = run(*model, kTinyRows);
    company.difference =
        std::memcmp(alone.data(), beside.data(), alone.size() * sizeof(float)) != 0;
  }
  if (device == "cpu") return found;
  for (const bool reference : {true, false}) {
    compare(device, DType::kF32, reference, 1e-4);
    compare(device, DType::kBF16, reference, 0.05);
    compare(device, DType::kF16, reference, 0.01);
  }
  return found;
}

}  // namespace triescope::app

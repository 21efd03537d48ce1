#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "core/base/bytes_text.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/files/family.h"
#include "core/files/quantised/quantised_tensor.h"
#include "core/files/weights.h"
#include "core/model/active_weights.h"
#include "core/model/block_types.h"
#include "core/model/model.h"
#include "core/model/rope_scaling.h"
#include "core/model/transformer.h"

namespace triescope {
namespace {

using formats::ModelConfig;
using formats::WeightSource;

std::string tokenizer_of(const WeightSource& source, const std::string& path) {
  if (source.is_gguf()) {
    const std::string model = source.gguf()->text("tokenizer.ggml.model").value_or("");
    const std::string pre = source.gguf()->text("tokenizer.ggml.pre").value_or("");
    return pre.empty() ? model : model + "/" + pre;
  }
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(path) / "tokenizer.json", ignored)
             ? "tokenizer.json"
             : "";
}

// Fills in how much of the model lies in blocks that every device's kernels compute from, and how
// much in blocks of which no kernel does, with a note about these.
void count_blocks(const WeightSource& source, ModelInfo& info) {
  std::set<std::string> widened;
  for (const formats::Part& part : formats::parts_of(source.config())) {
    if (part.role == formats::Role::kPositions) continue;  // always widened
    const formats::WeightShape shape = source.shape(part).value();
    const std::int64_t values = shape.rows * shape.cols;
    if (const formats::QuantisedTensor* tensor = source.quantised(part)) {
      info.widened_parameters += values;
      info.widened_bytes += tensor->bytes() * values / tensor->elements();
      widened.insert(tensor->dtype);
      continue;
    }
    const std::optional<formats::GgmlType> type = source.stored_type(part);
    if (!type || formats::block_elements(*type) == 1) continue;
    const bool computed = computes_from_blocks(*type, false);
    if (computed && !computes_from_blocks(*type, true)) continue;
    (computed ? info.block_parameters : info.widened_parameters) += values;
    (computed ? info.block_bytes : info.widened_bytes) +=
        values / formats::block_elements(*type) * formats::block_bytes(*type);
    if (!computed) widened.insert(formats::to_string(*type));
  }
  if (widened.empty()) return;
  std::string names;
  for (const std::string& name : widened) names += (names.empty() ? "" : ", ") + name;
  const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
  info.notes.push_back("no kernel computes from matrices in " + names +
                       ": they are widened on loading, from " + bytes(info.widened_bytes) + " to " +
                       bytes(2 * info.widened_parameters) + " in dtype bf16 or " +
                       bytes(4 * info.widened_parameters) + " in f32, and a step reads as much");
}

// Fills in how much of a mixture of experts a token uses, with a note.
void count_experts(const WeightSource& source, ModelInfo& info) {
  const ModelConfig& config = source.config();
  if (!config.has_experts()) return;
  std::size_t layers = 0;
  for (const formats::LayerConfig& layer : config.layers) {
    layers += layer.experts > 0;
    info.experts = std::max(info.experts, layer.experts);
  }
  info.experts_used = config.experts.used;
  info.active_parameters = active_weights(config).used;
  info.notes.push_back(
      "a mixture of experts: a token goes through " + std::to_string(info.experts_used) + " of " +
      std::to_string(info.experts) +
      (config.experts.shared_intermediate > 0 ? " and one that all share" : "") + " in " +
      std::to_string(layers) + " of " + counted(config.layers.size(), "layer") + ", and uses " +
      std::to_string(info.active_parameters) + " of " + counted(info.parameters, "parameter"));
}

// Fills in what differs by layer of K and V, with a note.
void count_kv(const ModelConfig& config, ModelInfo& info) {
  if (config.has_even_kv()) return;
  info.kv_values = config.kv_values();
  info.widest_head = config.widest_head();
  std::set<int> widths;
  std::set<std::size_t> read;
  std::size_t own = 0, convolutions = 0;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const formats::HeadShape heads = config.heads_of(i);
    if (config.layers[i].taps > 0) {
      ++convolutions;
      continue;
    }
    widths.insert(heads.head_dim);
    own += heads.owns_kv;
    if (!heads.owns_kv) read.insert(config.kv_layer(i));
  }
  const auto listed = [](const auto& numbers) {
    std::string text;
    for (const auto number : numbers)
      text += (text.empty() ? "" : " and ") + std::to_string(number);
    return text;
  };
  std::string note;
  if (!widths.empty())
    note = "heads have " + listed(widths) + " values" + (widths.size() > 1 ? ", by layer; " : "; ");
  note += std::to_string(own) + " of " + counted(config.layers.size(), "layer") +
          " have K and V of their own";
  if (!read.empty()) note += ", the others read those of layers " + listed(read);
  if (convolutions > 0)
    note += ", " + std::to_string(convolutions) + " are convolutions over " +
            counted(static_cast<std::size_t>(config.most_taps()), "row") +
            ", with a column of their state in the place of K";
  info.notes.push_back(note);
}

// Needs the dtype.
void count_active_bytes(const WeightSource& source, ModelInfo& info) {
  if (info.experts == 0) return;
  const ActiveBytes bytes = active_bytes(source, info.dtype, info.device.starts_with("cuda"));
  info.active_bytes = bytes.read;
  info.expert_bytes = bytes.expert;
}

ModelInfo info_of(const WeightSource& source, const std::string& path) {
  const ModelConfig& config = source.config();
  ModelInfo info;
  info.name = config.name;
  info.path = path;
  info.family = config.family;
  info.format = source.is_gguf() ? "gguf" : "safetensors";
  info.quantisation = source.quantisation();
  info.parameters = source.parameters();
  info.file_bytes = source.file_bytes();
  info.layers = static_cast<int>(config.layers.size());
  info.hidden = config.hidden;
  info.heads = config.heads;
  info.kv_heads = config.kv_heads;
  info.head_dim = config.head_dim;
  info.intermediate = config.widest_intermediate();
  info.vocab_size = config.vocab_size;
  info.context = config.context;
  for (const formats::RopeConfig& rope : config.ropes) {
    // Dynamic scaling exists to exceed the longest text that the configuration names.
    if (rope.kind == formats::RopeKind::kDynamic && rope.factor > 1)
      info.context =
          static_cast<int>(std::min(info.context * rope.factor, static_cast<double>(1 << 28)));
  }
  bool all_slide = true;
  for (const formats::LayerConfig& layer : config.layers) {
    info.sliding_window = std::max(info.sliding_window, layer.window);
    all_slide = all_slide && layer.window > 0;
  }
  if (all_slide) info.kv_window = info.sliding_window;
  info.kv_valid_until = config.kv_valid_until;
  info.tied_embeddings = config.tied_embeddings;
  info.rope_theta = config.ropes.empty() ? 0 : static_cast<float>(config.ropes[0].theta);
  info.tokenizer = tokenizer_of(source, path);
  info.eos_token_ids = config.eos_token_ids;
  info.bos_token_id = config.bos_token_id;
  info.generation = config.generation;
  info.notes = config.notes;
  count_kv(config, info);
  count_experts(source, info);
  count_blocks(source, info);
  return info;
}

std::string warning_of(const ModelConfig& config, DType dtype) {
  if (dtype != DType::kF16 || !formats::family_of(config).overflows_f16) return "";
  return "dtype f16: activations of " + config.family +
         " models are known to overflow in it (texts of one repeated token, or none); bf16 and f32 "
         "are safe";
}

std::unique_ptr<Model> load_from(const WeightSource& source, const std::string& path,
                                 const LoadOptions& options, const ProgressSink& progress,
                                 std::stop_token stop) {
  LoadOptions chosen = options;
  if (chosen.threads < 0 || chosen.threads > 1024) {
    throw Error(ErrorCode::kInvalidArgument,
                "threads: expected 0 (all) to 1024, found " + std::to_string(chosen.threads));
  }
  if (chosen.threads == 0)
    chosen.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  ModelInfo info = info_of(source, path);
  info.dtype = chosen.dtype;
  info.device = chosen.device;
  count_active_bytes(source, info);
  info.kv_dtype = chosen.kv_dtype.value_or(chosen.dtype);
  info.warning = warning_of(source.config(), info.dtype);
  if (chosen.device != "cpu" || chosen.reference_kernels) {
    if (info.kv_dtype != chosen.dtype) {
      throw Error(ErrorCode::kNotSupported,
                  std::string("KV dtype ") + to_string(info.kv_dtype) + " beside dtype " +
                      to_string(chosen.dtype) + ": expected the same on device " + chosen.device +
                      (chosen.reference_kernels ? " with libtorch's kernels" : "") +
                      "; only the CPU's own kernels take another");
    }
    const auto steps = chosen.reference_kernels ? LayerSteps::kOperations : LayerSteps::kKernels;
    return make_torch_transformer(source, std::move(info), chosen, steps, progress, stop);
  }
  if (chosen.dtype == DType::kF16) {
    throw Error(ErrorCode::kNotSupported,
                "dtype f16 on device cpu is not supported: choose f32, which holds f16 weights "
                "exactly, or bf16, which takes as little room (f16 is for CUDA)");
  }
  if (info.kv_dtype == DType::kF16) {
    throw Error(ErrorCode::kNotSupported,
                "KV dtype f16 on device cpu is not supported: choose f32 or bf16");
  }
  return make_cpu_transformer(source, std::move(info), chosen, progress, stop);
}

}  // namespace

ModelInfo inspect_model(const std::string& path) {
  const std::unique_ptr<WeightSource> source = WeightSource::open(path);
  ModelInfo info = info_of(*source, path);
  count_active_bytes(*source, info);
  return info;
}

bool has_rope_scaling(const std::string& path) {
  return std::ranges::any_of(
      WeightSource::open(path)->config().ropes, [](const formats::RopeConfig& rope) {
        return rope.kind != formats::RopeKind::kDefault || !rope.divisors.empty();
      });
}

std::unique_ptr<Model> load_without_rope_scaling(const std::string& path,
                                                 const LoadOptions& options) {
  const std::unique_ptr<WeightSource> source = WeightSource::open(path);
  source->drop_rope_scaling();
  return load_from(*source, path, options, {}, {});
}

std::unique_ptr<Model> load_model(const std::string& path, const LoadOptions& options,
                                  const ProgressSink& progress, std::stop_token stop) {
  return load_from(*WeightSource::open(path), path, options, progress, stop);
}

}  // namespace triescope

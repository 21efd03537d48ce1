// gpt-oss: experts in every layer with biases and an activation of their own, attention sinks, a window in
// every other layer. In safetensors gate and up alternate row by row, in MXFP4 blocks or transposed. Source:
// transformers models/gpt_oss; llama.cpp's conversion of GptOssForCausalLM.
#include "core/files/family.h"
#include "core/files/quantised/quantisation.h"

namespace triescope::formats {
namespace {

void gpt_oss(ModelConfig& config) {
  config.activation = Activation::kClampedSwiglu;
  config.attention_sinks = true;
  config.mlp_bias = true;
  config.experts.router_bias = true;
  config.experts.normalise = true;
}

void read_gpt_oss(const JsonFields& fields, ModelConfig& config) {
  gpt_oss(config);
  if (fields.number("swiglu_limit", 7) != 7) fields.not_supported("a swiglu_limit other than 7");
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", true);
  read_rope_json(fields, config, 150000);
  read_windows_json(
      fields, config, window_from_json(fields, 128), [](int layer, int) { return layer % 2 == 0; },
      0);
  read_experts_json(fields, config, "num_local_experts", 128, 4);
  config.mxfp4_experts = is_mxfp4(fields);
}

// The two matrices of an expert: gate and up, whose rows alternate, and down.
std::optional<WeightSlice> gpt_oss_weight(const ModelConfig& config, const Part& part) {
  const std::string mlp = "model.layers." + std::to_string(part.layer) + ".mlp.";
  if (part.role == Role::kRouter) return WeightSlice{mlp + "router.weight"};
  if (part.role == Role::kRouterBias) return WeightSlice{mlp + "router.bias"};
  if (!is_of_expert(part.role)) return std::nullopt;
  const bool down = part.role == Role::kDown || part.role == Role::kDownBias;
  const bool up = part.role == Role::kUp || part.role == Role::kUpBias;
  const bool bias =
      part.role == Role::kGateBias || part.role == Role::kUpBias || part.role == Role::kDownBias;
  WeightSlice slice{mlp + "experts." + (down ? "down_proj" : "gate_up_proj")};
  if (bias) slice.tensor += "_bias";
  slice.stacked = true;
  slice.row_step = down ? 1 : 2;
  slice.first_row = up ? 1 : 0;
  slice.mxfp4 = !bias && config.mxfp4_experts;
  slice.transposed = !bias && !slice.mxfp4;
  if (slice.transposed) {
    slice.transposed_at = part.expert;
  } else {
    slice.first_row += part.expert * expected_shape(config, part)->rows * slice.row_step;
  }
  return slice;
}

void gguf_gpt_oss(const GgufFields& fields, ModelConfig& config) {
  gpt_oss(config);
  // The converter does not write that yarn's range is not rounded.
  for (RopeConfig& rope : config.ropes) rope.truncate = false;
  read_windows_gguf(fields, config, 128, 2);
  read_experts_gguf(fields, config, true);
}

std::optional<WeightSlice> gguf_gpt_oss_weight(const ModelConfig&, const Part& part) {
  if (part.role != Role::kMlpNorm) return std::nullopt;
  return WeightSlice{"blk." + std::to_string(part.layer) + ".post_attention_norm.weight"};
}

}  // namespace

extern const Family kGptOss;
const Family kGptOss = {.model_type = "gpt_oss",
                        .gguf_names = {"gpt-oss"},
                        .read_json = read_gpt_oss,
                        .read_gguf = gguf_gpt_oss,
                        .json_weight = gpt_oss_weight,
                        .gguf_weight = gguf_gpt_oss_weight,
                        .reads_mxfp4 = true};

}  // namespace triescope::formats

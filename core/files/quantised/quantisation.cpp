#include "core/files/quantised/quantisation.h"

#include <string>

#include "core/files/config.h"
#include "core/files/json.h"
#include "core/files/safetensors.h"

namespace triescope::formats {
namespace {

constexpr const char* kKey = "quantization_config";

[[noreturn]] void refuse(const JsonFields& config, const std::string& found) {
  config.not_supported(
      std::string(kKey) + ": expected fp8, gptq, awq, bitsandbytes or compressed-tensors, found " +
      found +
      "; convert the model to one of them, to bf16 (transformers: dequantize(), then "
      "save_pretrained()) or to GGUF (llama.cpp: convert_hf_to_gguf.py), because this");
}

Quantisation read_fp8(const JsonFields& fields) {
  Quantisation result{QuantMethod::kFp8};
  const std::vector<std::int64_t> block = fields.integers("weight_block_size");
  if (block.empty()) return result;
  if (block.size() != 2 || block[0] < 1 || block[1] < 1)
    fields.corrupt("weight_block_size", "two numbers of 1 or more");
  result.block = {block[0], block[1]};
  return result;
}

Quantisation read_gptq(const JsonFields& fields) {
  Quantisation result{QuantMethod::kGptq};
  result.bits = fields.integer("bits", 4);
  if (result.bits != 2 && result.bits != 4 && result.bits != 8)
    fields.not_supported("bits " + std::to_string(result.bits) + " of gptq (2, 4 and 8 are); it");
  const std::string format = fields.text("checkpoint_format", "gptq");
  if (format != "gptq" && format != "gptq_v2")
    fields.not_supported("checkpoint_format '" + format.substr(0, 40) +
                         "' of gptq (gptq and gptq_v2 are); it");
  result.zeros_less_one = format == "gptq";
  return result;
}

Quantisation read_awq(const JsonFields& fields) {
  const std::string version = fields.text("version", "gemm");
  if (version != "gemm" && version != "GEMM")
    fields.not_supported("version '" + version.substr(0, 40) + "' of awq (gemm is); it");
  if (fields.integer("bits", 4) != 4)
    fields.not_supported("bits " + std::to_string(fields.integer("bits")) + " of awq (4 are); it");
  return {QuantMethod::kAwq, 4};
}

Quantisation read_compressed(const JsonFields& fields) {
  const std::string format = fields.text("format", "dense");
  for (const char* known :
       {"pack-quantized", "float-quantized", "int-quantized", "naive-quantized", "mixed-precision"})
    if (format == known) {
      if (fields.has("sparsity_config")) {
        const std::string sparse = fields.object("sparsity_config").text("format", "dense");
        if (sparse != "dense")
          fields.not_supported("sparsity_config '" + sparse.substr(0, 40) +
                               "' of compressed-tensors");
      }
      return {QuantMethod::kCompressedTensors};
    }
  fields.not_supported("format '" + format.substr(0, 40) +
                       "' of compressed-tensors (pack-quantized, float-quantized, int-quantized "
                       "and naive-quantized are); it");
}

}  // namespace

std::optional<Quantisation> quantisation_of(const JsonFields& config) {
  if (!config.has(kKey)) return std::nullopt;
  const JsonFields fields = config.object(kKey);
  const std::string method =
      fields.text("quant_method", fields.has("load_in_4bit") ? "bitsandbytes" : "");
  if (method == "fp8") return read_fp8(fields);
  if (method == "gptq") return read_gptq(fields);
  if (method == "awq") return read_awq(fields);
  if (method == "bitsandbytes") return Quantisation{QuantMethod::kBitsAndBytes};
  if (method == "compressed-tensors") return read_compressed(fields);
  refuse(config, method.empty() ? "no quant_method" : "'" + method.substr(0, 40) + "'");
}

bool is_mxfp4(const JsonFields& config) {
  return config.has(kKey) && config.object(kKey).text("quant_method", "") == "mxfp4";
}

std::optional<Quantisation> quantisation_of_folder(const std::string& folder) {
  const std::string path = path_in_folder(folder, "config.json");
  const nlohmann::json json = read_json_file(path, kMaxConfigBytes);
  return quantisation_of(JsonFields(json, path));
}

}  // namespace triescope::formats

#include "core/files/quantised/quantisation.h"

#include <algorithm>
#include <string>

#include "core/files/config.h"
#include "core/files/json.h"
#include "core/files/safetensors.h"

namespace triescope::formats {
namespace {

constexpr const char* kKey = "quantization_config";

// `fields`: of quantization_config, or of an object in it. `found` ends with what is read instead.
[[noreturn]] void refuse(const JsonFields& fields, const std::string& found) {
  fields.not_supported(
      found +
      "; convert the model to one of these, to bf16 (transformers: dequantize(), then "
      "save_pretrained()) or to GGUF (llama.cpp: convert_hf_to_gguf.py), because this");
}

std::string quoted(const std::string& text) { return "'" + text.substr(0, 40) + "'"; }

constexpr std::int64_t kLongestBlock = 1 << 30;

// The two numbers of "128x128", as older compressed-tensors wrote them; empty: it is another text.
std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers = {-1};
  for (const char c : text) {
    if (c == 'x' && numbers.back() >= 0) {
      numbers.push_back(-1);
    } else if (c >= '0' && c <= '9' && numbers.back() <= kLongestBlock) {
      numbers.back() = 10 * std::max<std::int64_t>(numbers.back(), 0) + (c - '0');
    } else {
      return {};
    }
  }
  return numbers;
}

// A list of two numbers or a text of them; 0, 0: there is none.
std::array<std::int64_t, 2> block_of(const JsonFields& fields, const char* key) {
  if (!fields.has(key)) return {0, 0};
  const bool is_text = fields.raw()[key].is_string();
  const auto block = is_text ? numbers_of(fields.text(key)) : fields.integers(key);
  if (!is_text && block.empty()) return {0, 0};
  const auto fits = [](std::int64_t number) { return number >= 1 && number <= kLongestBlock; };
  if (block.size() != 2 || !std::ranges::all_of(block, fits))
    fields.corrupt(key, "two numbers from 1 to 2^30");
  return {block[0], block[1]};
}

Quantisation read_gptq(const JsonFields& fields) {
  Quantisation result{QuantMethod::kGptq};
  result.bits = fields.integer("bits", 4);
  if (result.bits != 2 && result.bits != 4 && result.bits != 8)
    refuse(fields, "bits " + std::to_string(result.bits) + " of gptq (2, 4 and 8 are read)");
  const std::string format = fields.boolean("is_marlin_format", false)
                                 ? "marlin"
                                 : fields.text("checkpoint_format", "gptq");
  if (format != "gptq" && format != "gptq_v2")
    refuse(fields, "checkpoint_format " + quoted(format) + " of gptq (gptq and gptq_v2 are read)");
  result.zeros_less_one = format == "gptq";
  return result;
}

Quantisation read_awq(const JsonFields& fields) {
  const std::string version = fields.text("version", "gemm");
  if (version != "gemm" && version != "GEMM")
    refuse(fields, "version " + quoted(version) + " of awq (gemm is read)");
  if (const int bits = fields.integer("bits", 4); bits != 4)
    refuse(fields, "bits " + std::to_string(bits) + " of awq (4 are read)");
  return {QuantMethod::kAwq, 4};
}

void check_format(const JsonFields& fields, const std::string& format) {
  for (const char* known :
       {"pack-quantized", "float-quantized", "int-quantized", "naive-quantized", "mixed-precision"})
    if (format == known) return;
  refuse(fields, "format " + quoted(format) +
                     " of compressed-tensors (pack-quantized, float-quantized, int-quantized and "
                     "naive-quantized are read)");
}

// Reads one of config_groups: how the weights of some layers are quantised.
void read_group(const JsonFields& group, Quantisation& result) {
  if (group.has("format")) check_format(group, group.text("format"));
  if (!group.has("weights")) return;
  const JsonFields weights = group.object("weights");
  const int bits = weights.integer("num_bits", 8);
  if (const std::string type = weights.text("type", "int"); type != "int" && bits != 8)
    refuse(weights, "type " + quoted(type) + " of " + std::to_string(bits) +
                        " bits (integers, and float of 8 bits, are read)");
  if (bits != 2 && bits != 4 && bits != 8)
    refuse(weights, "num_bits " + std::to_string(bits) + " (2, 4 and 8 are read)");
  const std::array<std::int64_t, 2> block = block_of(weights, "block_structure");
  if (block[0] == 0) return;
  if (result.block[0] != 0 && result.block != block)
    refuse(weights, "a block_structure that differs by group (one for all is read)");
  result.block = block;
}

Quantisation read_compressed(const JsonFields& fields) {
  check_format(fields, fields.text("format", "dense"));
  for (const char* key : {"sparsity_config", "transform_config"}) {
    if (!fields.has(key)) continue;
    const JsonFields more = fields.object(key);
    const bool changes = more.has("config_groups") && !more.object("config_groups").raw().empty();
    if (const std::string format = more.text("format", "dense"); changes || format != "dense")
      refuse(fields, std::string(key) + (changes ? "" : " " + quoted(format)) +
                         " of compressed-tensors (weights without one are read)");
  }
  Quantisation result{QuantMethod::kCompressedTensors};
  if (!fields.has("config_groups")) return result;
  const JsonFields groups = fields.object("config_groups");
  for (const auto& [name, group] : groups.raw().items())
    if (group.is_object()) read_group(groups.object(name.c_str()), result);
  return result;
}

}  // namespace

std::optional<Quantisation> quantisation_of(const JsonFields& config) {
  if (!config.has(kKey)) return std::nullopt;
  const JsonFields fields = config.object(kKey);
  const std::string method =
      fields.text("quant_method", fields.has("load_in_4bit") ? "bitsandbytes" : "");
  if (method == "fp8")
    return Quantisation{.method = QuantMethod::kFp8,
                        .block = block_of(fields, "weight_block_size")};
  if (method == "gptq") return read_gptq(fields);
  if (method == "awq") return read_awq(fields);
  if (method == "bitsandbytes") return Quantisation{QuantMethod::kBitsAndBytes};
  if (method == "compressed-tensors") return read_compressed(fields);
  refuse(config, std::string(kKey) +
                     ": expected fp8, gptq, awq, bitsandbytes or compressed-tensors, found " +
                     (method.empty() ? "no quant_method" : quoted(method)));
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

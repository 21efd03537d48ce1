// Draft heads made of names and shapes: a safetensors file in memory, which a test can change name
// by name. Values are zeros unless given.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/files/draft_head/head_file.h"
#include "core/files/draft_head/stored_tensors.h"

namespace triescope::test {

struct TensorSpec {
  std::vector<std::int64_t> shape;
  std::string dtype = "F16";
  std::string values = {};  // bytes; empty: zeros
};

struct HeadBytes {
  std::map<std::string, TensorSpec> tensors;
  std::string config;
  std::string file;  // what open() made; a HeadFile borrows it

  formats::StoredTensors stored() {
    std::string header, data;
    for (const auto& [name, spec] : tensors) {
      std::size_t bytes = spec.dtype == "I64" || spec.dtype == "F64" ? 8
                          : spec.dtype == "F32"                      ? 4
                          : spec.dtype == "BOOL"                     ? 1
                                                                     : 2;
      std::string shape;
      for (const std::int64_t extent : spec.shape) {
        bytes *= static_cast<std::size_t>(extent);
        shape += (shape.empty() ? "" : ",") + std::to_string(extent);
      }
      header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":")" + spec.dtype +
                R"(","shape":[)" + shape + R"(],"data_offsets":[)" + std::to_string(data.size()) +
                "," + std::to_string(data.size() + bytes) + "]}";
      data += spec.values.empty() ? std::string(bytes, '\0') : spec.values;
    }
    header += header.empty() ? "{}" : "}";
    std::string length;
    for (std::size_t i = 0, size = header.size(); i < 8; ++i, size >>= 8)
      length += static_cast<char>(size & 255);
    file = length + header + data;
    return formats::StoredTensors::of(formats::SafeTensors::open(
        std::make_unique<formats::InputFile>(std::as_bytes(std::span(file)), "head.safetensors")));
  }
  formats::HeadFile open(const formats::TargetShape& target = {}, std::vector<int> layers = {}) {
    return formats::HeadFile::open("head", stored(), config, target, {.layers = std::move(layers)});
  }
};

// A layer with 2 heads and 1 of keys, head size 8, MLP of 24.
inline void add_layer(HeadBytes& head, const std::string& first, std::int64_t hidden,
                      std::int64_t width) {
  head.tensors[first + "self_attn.q_proj.weight"] = {{16, width}};
  head.tensors[first + "self_attn.k_proj.weight"] = {{8, width}};
  head.tensors[first + "self_attn.v_proj.weight"] = {{8, width}};
  head.tensors[first + "self_attn.o_proj.weight"] = {{hidden, 16}};
  head.tensors[first + "post_attention_layernorm.weight"] = {{hidden}};
  head.tensors[first + "mlp.gate_proj.weight"] = {{24, hidden}};
  head.tensors[first + "mlp.up_proj.weight"] = {{24, hidden}};
  head.tensors[first + "mlp.down_proj.weight"] = {{hidden, 24}};
}

inline constexpr const char* kHeadConfig =
    R"({"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "vocab_size": 64})";

// For a target with hidden size 16 and vocabulary 64.
inline HeadBytes eagle_bytes() {
  HeadBytes head{{}, kHeadConfig, ""};
  head.tensors["embed_tokens.weight"] = {{64, 16}};
  head.tensors["fc.weight"] = {{16, 32}};
  add_layer(head, "layers.0.", 16, 16);
  return head;
}

inline HeadBytes eagle3_bytes() {
  HeadBytes head{{}, kHeadConfig, ""};
  head.tensors["fc.weight"] = {{16, 48}};
  head.tensors["midlayer.input_layernorm.weight"] = {{16}};
  head.tensors["midlayer.hidden_norm.weight"] = {{16}};
  add_layer(head, "midlayer.", 16, 32);
  head.tensors["norm.weight"] = {{16}};
  head.tensors["lm_head.weight"] = {{64, 16}};
  return head;
}

inline HeadBytes medusa_bytes() {
  HeadBytes head;
  for (const char* index : {"0", "1"}) {
    head.tensors[index + std::string(".0.linear.weight")] = {{16, 16}};
    head.tensors[index + std::string(".0.linear.bias")] = {{16}};
    head.tensors[index + std::string(".1.weight")] = {{64, 16}};
  }
  return head;
}

inline HeadBytes hydra_bytes() {
  HeadBytes head;
  for (int i = 0; i < 2; ++i) {
    const std::string first = "hydra_mlp." + std::to_string(i) + ".0.";
    for (const char* part : {"linear", "res_connection"}) {
      head.tensors[first + part + ".weight"] = {{16, 16 * (i + 2)}};
      head.tensors[first + part + ".bias"] = {{16}};
    }
  }
  return head;
}

// For a target of 8 layers with one K/V head of 8 too.
inline HeadBytes space_bytes() {
  HeadBytes head{
      {}, R"({"model_type": "space", "space_num_masks": 2, "space_prefix_length": 3})", ""};
  head.tensors["mask_embeddings"] = {{2, 16}};
  head.tensors["prefix_keys"] = {{8, 1, 3, 8}};
  head.tensors["prefix_values"] = {{8, 1, 3, 8}};
  return head;
}

// A model of two layers whose embedding's last rows are masks.
inline HeadBytes space_model_bytes(const std::string& config) {
  HeadBytes model{{}, config, ""};
  model.tensors["model.embed_tokens.weight"] = {{64, 16}};
  model.tensors["model.norm.weight"] = {{16}};
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) add_layer(model, layer, 16, 16);
  return model;
}

}  // namespace triescope::test

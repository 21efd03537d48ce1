// A small llama in a GGUF file, its matrices in any of the types that files hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/files/random_blocks.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test {

inline constexpr std::uint32_t kStoredWidth = 256, kStoredVocab = 70;

// A small llama, every matrix of the type that `type_of` gives for its name. tied: the embedding is
// the output head too. as_f32: the same weights, stored as F32. experts > 0: two of so many MLPs
// serve a row, as in Mixtral; their routers are F32.
template <class TypeOf>
std::string llama_file(const TypeOf& type_of, std::uint64_t seed, bool tied = false,
                       bool as_f32 = false, std::uint32_t experts = 0) {
  Rng rng(seed);
  GgufWriter file;
  file.add("general.architecture", std::string("llama"));
  for (const auto& [key, value] : {std::pair("block_count", 2u),
                                   {"context_length", 128u},
                                   {"embedding_length", kStoredWidth},
                                   {"feed_forward_length", 512u},
                                   {"attention.head_count", 4u},
                                   {"attention.head_count_kv", 2u}})
    file.add(std::string("llama.") + key, std::uint32_t{value});
  file.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  if (experts > 0) {
    file.add("llama.expert_count", experts);
    file.add("llama.expert_used_count", std::uint32_t{2});
  }
  // `stack`: so many matrices in one tensor of three dimensions.
  const auto matrix = [&](const std::string& name, std::uint64_t inputs, std::uint64_t of_one,
                          std::uint64_t stack = 1) {
    const formats::GgmlType type = type_of(name);
    const std::uint64_t outputs = of_one * stack;
    std::vector<std::uint64_t> shape = {inputs, of_one};
    if (stack > 1) shape.push_back(stack);
    file.add_entry(name, shape, static_cast<std::uint32_t>(as_f32 ? formats::GgmlType::kF32 : type),
                   file.data.size());
    std::vector<std::byte> rows = formats::random_rows(type, static_cast<std::int64_t>(outputs),
                                                       static_cast<std::int64_t>(inputs), rng);
    if (as_f32) {
      const std::vector<float> values = formats::dequantised(type, rows);
      const auto bytes = std::as_bytes(std::span(values));
      rows.assign(bytes.begin(), bytes.end());
    }
    file.data.append(reinterpret_cast<const char*>(rows.data()), rows.size());
    file.data.resize((file.data.size() + 31) / 32 * 32, '\0');
  };
  const auto norm = [&](const std::string& name) {
    file.add_f32(name, {kStoredWidth}, std::vector<float>(kStoredWidth, 0.75f));
  };
  matrix("token_embd.weight", kStoredWidth, kStoredVocab);
  if (!tied) matrix("output.weight", kStoredWidth, kStoredVocab);
  norm("output_norm.weight");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    norm(block + "attn_norm.weight");
    norm(block + "ffn_norm.weight");
    matrix(block + "attn_q.weight", kStoredWidth, kStoredWidth);
    matrix(block + "attn_k.weight", kStoredWidth, kStoredWidth / 2);
    matrix(block + "attn_v.weight", kStoredWidth, kStoredWidth / 2);
    matrix(block + "attn_output.weight", kStoredWidth, kStoredWidth);
    if (experts > 0) {
      std::vector<float> router;
      for (std::uint32_t i = 0; i < experts * kStoredWidth; ++i)
        router.push_back(static_cast<float>(rng.uniform() - 0.5));
      file.add_f32(block + "ffn_gate_inp.weight", {kStoredWidth, experts}, router);
      matrix(block + "ffn_gate_exps.weight", kStoredWidth, 512, experts);
      matrix(block + "ffn_up_exps.weight", kStoredWidth, 512, experts);
      matrix(block + "ffn_down_exps.weight", 512, kStoredWidth, experts);
      continue;
    }
    matrix(block + "ffn_gate.weight", kStoredWidth, 512);
    matrix(block + "ffn_up.weight", kStoredWidth, 512);
    matrix(block + "ffn_down.weight", 512, kStoredWidth);
  }
  return file.bytes();
}

// Another type for every matrix that shares an input with others, blocks and plain numbers.
inline formats::GgmlType mixed_type(const std::string& name) {
  using enum formats::GgmlType;
  if (name.ends_with("attn_q.weight")) return kQ4_K;
  if (name.ends_with("attn_k.weight")) return kQ6_K;
  if (name.ends_with("attn_v.weight")) return kF16;
  if (name.ends_with("ffn_gate.weight")) return kQ5_1;
  if (name.ends_with("ffn_up.weight")) return kIQ4_NL;
  if (name.ends_with("ffn_down.weight")) return kQ3_K;
  if (name.starts_with("token_embd")) return kQ8_0;
  return kBF16;
}

}  // namespace triescope::test

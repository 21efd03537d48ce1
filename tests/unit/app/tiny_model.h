// A real model of a few kilobytes, written as a GGUF file: two layers of the llama family with
// random weights, and no tokenizer unless asked for. It loads in a millisecond. Its text makes no
// sense, but is the same in every run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::app {

struct TinyModel {
  std::uint32_t vocabulary = 48, layers = 2;
  std::uint64_t seed = 1;
  bool tokenizer = false;  // a byte-level BPE without merges: "a", "b", ... are tokens
};

inline test::GgufWriter tiny_model(const TinyModel& wanted) {
  constexpr std::uint64_t kHidden = 32, kInner = 64;
  test::GgufWriter writer;
  writer.add("general.architecture", std::string("llama"));
  writer.add("general.name", std::string("tiny"));
  writer.add("llama.embedding_length", static_cast<std::uint32_t>(kHidden));
  writer.add("llama.attention.head_count", std::uint32_t{2});
  writer.add("llama.attention.head_count_kv", std::uint32_t{1});
  writer.add("llama.feed_forward_length", static_cast<std::uint32_t>(kInner));
  writer.add("llama.context_length", std::uint32_t{256});
  writer.add("llama.block_count", wanted.layers);
  writer.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  if (wanted.tokenizer) {
    std::string texts;
    for (std::uint32_t i = 0; i < wanted.vocabulary; ++i)
      texts += test::gguf_text(std::string(1, static_cast<char>('A' + i)));
    writer.add("tokenizer.ggml.model", std::string("gpt2"));
    writer.add("tokenizer.ggml.pre", std::string("gpt-2"));
    writer.add_raw("tokenizer.ggml.tokens", 9,
                   test::bytes_of<std::uint32_t>(8) +
                       test::bytes_of<std::uint64_t>(wanted.vocabulary) + texts);
    writer.add_raw("tokenizer.ggml.merges", 9,
                   test::bytes_of<std::uint32_t>(8) + test::bytes_of<std::uint64_t>(0));
  }
  Rng rng(wanted.seed);
  const auto matrix = [&](const std::string& name, std::uint64_t columns, std::uint64_t rows) {
    std::vector<float> values(columns * rows);
    for (float& value : values) value = static_cast<float>(rng.uniform() - 0.5);
    writer.add_f32(name, {columns, rows}, values);
  };
  const auto norm = [&](const std::string& name) {
    writer.add_f32(name, {kHidden}, std::vector<float>(kHidden, 1.0f));
  };
  matrix("token_embd.weight", kHidden, wanted.vocabulary);
  norm("output_norm.weight");
  for (std::uint32_t layer = 0; layer < wanted.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    norm(block + "attn_norm.weight");
    matrix(block + "attn_q.weight", kHidden, kHidden);
    matrix(block + "attn_k.weight", kHidden, kHidden / 2);
    matrix(block + "attn_v.weight", kHidden, kHidden / 2);
    matrix(block + "attn_output.weight", kHidden, kHidden);
    norm(block + "ffn_norm.weight");
    matrix(block + "ffn_gate.weight", kHidden, kInner);
    matrix(block + "ffn_up.weight", kHidden, kInner);
    matrix(block + "ffn_down.weight", kInner, kHidden);
  }
  return writer;
}

// Writes `folder`/`name`.gguf and returns the path.
inline std::string write_tiny_model(const std::filesystem::path& folder, const std::string& name,
                                    const TinyModel& wanted = {}) {
  const std::filesystem::path path = folder / (name + ".gguf");
  test::write_file(path, tiny_model(wanted).bytes());
  return path.string();
}

}  // namespace triescope::app

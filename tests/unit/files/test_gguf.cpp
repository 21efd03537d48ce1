#include <doctest/doctest.h>

#include <random>

#include "core/base/error.h"
#include "core/files/gguf.h"
#include "core/files/weights.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/files/format_test_util.h"

namespace test_gguf {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// A one-layer Llama: hidden 8, 2 heads of 4, vocabulary 16.
GgufWriter tiny_model() {
  GgufWriter file;
  file.add("general.architecture", std::string("llama"));
  file.add("general.name", std::string("tiny"));
  file.add("llama.block_count", 1u);
  file.add("llama.context_length", 64u);
  file.add("llama.embedding_length", 8u);
  file.add("llama.feed_forward_length", 12u);
  file.add("llama.attention.head_count", 2u);
  file.add("llama.attention.head_count_kv", 2u);
  file.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  file.add("tokenizer.ggml.eos_token_id", 2u);
  const auto values = [](std::size_t count) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = 0.01f * static_cast<float>(i % 37) - 0.15f;
    return v;
  };
  file.add_f32("token_embd.weight", {8, 16}, values(128));
  file.add_f32("output_norm.weight", {8}, values(8));
  for (const char* name : {"attn_norm", "ffn_norm"})
    file.add_f32(std::string("blk.0.") + name + ".weight", {8}, values(8));
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    file.add_f32(std::string("blk.0.") + name + ".weight", {8, 8}, values(64));
  }
  file.add_f32("blk.0.ffn_gate.weight", {8, 12}, values(96));
  file.add_f32("blk.0.ffn_up.weight", {8, 12}, values(96));
  file.add_f32("blk.0.ffn_down.weight", {12, 8}, values(96));
  return file;
}

struct Opened {
  TempDir folder;
  std::string path = (folder.path() / "model.gguf").string();
  explicit Opened(const std::string& bytes) { write_file(path, bytes); }
};

// The code the file is refused with; fails the test if it opens.
ErrorCode refusal(const std::string& bytes) {
  const Opened file(bytes);
  try {
    GgufFile::open(file.path);
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find("model.gguf") != std::string::npos);
    return error.code();
  }
  FAIL("the file was accepted");
  return ErrorCode::kCancelled;
}

}  // namespace

TEST_CASE("GGUF: a small GGUF gives back its keys, tensors and configuration") {
  GgufWriter writer = tiny_model();
  SUBCASE("version 3") {}
  SUBCASE("version 2") { writer.version = 2; }
  const Opened opened(writer.bytes());
  const auto file = GgufFile::open(opened.path);
  CHECK(file->text("general.name") == "tiny");
  CHECK(file->integer("llama.block_count") == 1);
  CHECK(file->number("llama.block_count") == 1.0);
  CHECK(!file->integer("absent"));
  CHECK_THROWS_AS(file->integer("general.name"), Error);
  const GgufTensor* tensor = file->find("blk.0.ffn_down.weight");
  REQUIRE(tensor != nullptr);
  CHECK(tensor->shape == std::vector<std::int64_t>{8, 12});
  CHECK(tensor->bytes == 384);

  const auto source = WeightSource::open(opened.path);
  CHECK(source->config().head_dim == 4);
  CHECK(source->config().tied_embeddings);
  CHECK(source->config().eos_token_ids == std::vector<std::int32_t>{2});
  CHECK(source->quantisation() == "F32");
}

TEST_CASE("GGUF: q and k rows of a Llama GGUF come back in Hugging Face order") {
  const Opened opened(tiny_model().bytes());
  const auto source = WeightSource::open(opened.path);
  std::vector<float> q(64), v(64);
  source->read_rows({Role::kQuery, 0}, 0, q);
  source->read_rows({Role::kValue, 0}, 0, v);  // same numbers in the file, not permuted
  const int file_row[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t c = 0; c < 8; ++c)
      CHECK(q[r * 8 + c] == v[static_cast<std::size_t>(file_row[r]) * 8 + c]);
  }
  std::vector<float> some(16);
  source->read_rows({Role::kQuery, 0}, 5, some);
  CHECK(std::equal(some.begin(), some.end(), q.begin() + 40));
}

TEST_CASE("GGUF: a GGUF cut anywhere in its header or data is refused") {
  const std::string whole = tiny_model().bytes();
  for (std::size_t length = 0; length < whole.size(); length += length < 1500 ? 1 : 97) {
    CAPTURE(length);
    CHECK(refusal(whole.substr(0, length)) == ErrorCode::kCorruption);
  }
  // The last tensor's data ends 0 to 31 bytes before the file does.
  CHECK(refusal(whole.substr(0, whole.size() - 32)) == ErrorCode::kCorruption);
}

TEST_CASE("GGUF: a GGUF with flipped bytes opens or is refused, and never more") {
  const std::string whole = tiny_model().bytes();
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = whole;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) damaged[random() % 1500] = static_cast<char>(random());
    const Opened opened(damaged);
    try {
      const auto source = WeightSource::open(opened.path);
      std::vector<float> row(static_cast<std::size_t>(source->config().hidden));
      source->read_rows({Role::kEmbedding, 0}, 0, row);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("GGUF: counts, lengths and offsets that lie are refused") {
  GgufWriter file = tiny_model();
  SUBCASE("2^60 tensors") { file.tensor_count_lie = std::uint64_t{1} << 60; }
  SUBCASE("2^60 keys") { file.key_count_lie = std::uint64_t{1} << 60; }
  SUBCASE("more tensors than there are") { file.tensor_count_lie = 5000; }
  SUBCASE("a string of 2^63 bytes") {
    file.add_raw("k", 8, bytes_of<std::uint64_t>(std::uint64_t{1} << 63));
  }
  SUBCASE("a list of 2^61 integers") {
    file.add_raw("k", 9,
                 bytes_of<std::uint32_t>(10) + bytes_of<std::uint64_t>(std::uint64_t{1} << 61));
  }
  SUBCASE("a list of lists") {
    file.add_raw("k", 9, bytes_of<std::uint32_t>(9) + bytes_of<std::uint64_t>(1));
  }
  SUBCASE("a value type that does not exist") { file.add_raw("k", 13, "x"); }
  SUBCASE("a boolean of 2") { file.add_raw("k", 7, "\x02"); }
  SUBCASE("a key twice") { file.add("llama.block_count", 1u); }
  SUBCASE("a tensor twice") { file.add_f32("output_norm.weight", {8}, std::vector<float>(8)); }
  SUBCASE("tensors that overlap") { file.add_entry("x", {8}, 0, 0); }
  SUBCASE("a tensor past the end") { file.add_entry("x", {8}, 0, file.data.size()); }
  SUBCASE("an offset near 2^64") { file.add_entry("x", {8}, 0, ~std::uint64_t{31}); }
  SUBCASE("an offset off its alignment") {
    file.data.resize(file.data.size() + 64, '\0');
    file.add_entry("x", {8}, 0, file.data.size() - 60);
  }
  SUBCASE("dimensions whose product overflows") {
    file.add_entry("x", {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 0);
  }
  SUBCASE("a dimension of 0") { file.add_entry("x", {0, 8}, 0, 0); }
  SUBCASE("five dimensions") { file.add_entry("x", {1, 1, 1, 1, 1}, 0, 0); }
  SUBCASE("a row that is not a multiple of its block") { file.add_entry("x", {33}, 2, 0); }
  SUBCASE("an alignment of 3") { file.add("general.alignment", 3u); }
  SUBCASE("an alignment of 0") { file.add("general.alignment", 0u); }
  CHECK(refusal(file.bytes()) == ErrorCode::kCorruption);
}

TEST_CASE("GGUF: what is well-formed but not supported is named") {
  GgufWriter file = tiny_model();
  SUBCASE("version 1") { file.version = 1; }
  SUBCASE("a big-endian file") { file.version = 3u << 24; }
  SUBCASE("a tensor type we do not decode") { file.add_entry("x", {256}, 9, 0); }  // Q8_1
  CHECK(refusal(file.bytes()) == ErrorCode::kNotSupported);
  CHECK(refusal("GGML" + std::string(100, 'x')) == ErrorCode::kCorruption);
}

TEST_CASE("GGUF: a model that the tensors contradict is refused before anything is allocated") {
  const auto code_of = [](const GgufWriter& file) {
    const Opened opened(file.bytes());
    try {
      WeightSource::open(opened.path);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kCancelled;
  };
  const auto with = [](const std::string& key, std::uint32_t value) {
    GgufWriter file = tiny_model();
    std::erase_if(file.keys,
                  [&](const std::string& entry) { return entry.starts_with(gguf_text(key)); });
    file.add(key, value);
    return file;
  };
  CHECK(code_of(with("llama.block_count", 1000000000u)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.block_count", 2u)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.block_count", 0u)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.embedding_length", 1u << 30)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.attention.head_count", 0u)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.attention.head_count_kv", 3u)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.feed_forward_length", 1u << 20)) == ErrorCode::kCorruption);
  CHECK(code_of(with("llama.rope.dimension_count", 7u)) == ErrorCode::kCorruption);
  // An end token that the vocabulary lacks cannot come: the file opens.
  CHECK(code_of(with("tokenizer.ggml.eos_token_id", 16u)) == ErrorCode::kCancelled);
  CHECK(code_of(with("llama.expert_count", 8u)) == ErrorCode::kNotSupported);
  GgufWriter file = tiny_model();
  file.add_f32("blk.0.attn_sinks.weight", {8}, std::vector<float>(8));
  CHECK(code_of(file) == ErrorCode::kNotSupported);
  file = tiny_model();
  std::erase_if(file.keys, [&](const std::string& entry) {
    return entry.starts_with(gguf_text("general.architecture"));
  });
  file.add("general.architecture", std::string("mamba"));
  CHECK(code_of(file) == ErrorCode::kNotSupported);
}

TEST_CASE("GGUF: a split set is opened by its first part") {
  const TempDir folder;
  const auto name = [&](int i) {
    return (folder.path() / ("m-0000" + std::to_string(i) + "-of-00002.gguf")).string();
  };
  GgufWriter first = tiny_model();
  GgufWriter second;
  const auto u16 = [](GgufWriter& file, const char* key, std::uint16_t value) {
    file.add_raw(key, 2, bytes_of(value));
  };
  u16(first, "split.no", 0);
  u16(first, "split.count", 2);
  first.add("split.tensors.count", static_cast<std::uint32_t>(first.tensors.size() + 1));
  u16(second, "split.no", 1);
  u16(second, "split.count", 2);
  second.add_f32("output.weight", {8, 16}, std::vector<float>(128, 0.5f));
  write_file(name(1), first.bytes());
  CHECK_THROWS_AS(GgufFile::open(name(1)), Error);  // the second part is missing
  write_file(name(2), second.bytes());
  const auto source = WeightSource::open(name(1));
  CHECK(!source->config().tied_embeddings);
  std::vector<float> row(8);
  source->read_rows({Role::kHead, 0}, 3, row);
  CHECK(row[0] == 0.5f);
  CHECK_THROWS_AS(GgufFile::open(name(2)), Error);
  // A part that lies elsewhere is not followed.
  const TempDir outside;
  std::filesystem::rename(name(2), outside.path() / "part.gguf");
  std::filesystem::create_symlink(outside.path() / "part.gguf", name(2));
  CHECK_THROWS_WITH_AS(GgufFile::open(name(1)), doctest::Contains("symbolic link"), Error);
  std::filesystem::remove(name(2));
  u16(second, "split.tensors.count", 99);
  second.keys[0] = gguf_text("split.no") + bytes_of<std::uint32_t>(2) + bytes_of<std::uint16_t>(0);
  write_file(name(2), second.bytes());
  CHECK_THROWS_AS(GgufFile::open(name(1)), Error);
}

TEST_CASE("GGUF: a file that shrinks or changes after it was opened gives an error") {
  const Opened opened(tiny_model().bytes());
  const auto source = WeightSource::open(opened.path);
  std::vector<float> rows(96);
  source->read_rows({Role::kDown, 0}, 0, rows);
  std::filesystem::resize_file(opened.path, 600);
  CHECK_THROWS_AS(source->read_rows({Role::kDown, 0}, 0, rows), Error);
  CHECK_THROWS_AS(source->check_unchanged(), Error);
}

TEST_CASE("GGUF: the lists of a GGUF share one limit") {
  GgufWriter file = tiny_model();
  file.keys.push_back(gguf_text("many") + bytes_of<std::uint32_t>(9) + bytes_of<std::uint32_t>(0) +
                      bytes_of<std::uint64_t>(20u << 20) + std::string(20u << 20, '\0'));
  CHECK_NOTHROW(GgufFile::open(Opened(file.bytes()).path));
  file.keys.push_back(gguf_text("more") + bytes_of<std::uint32_t>(9) + bytes_of<std::uint32_t>(0) +
                      bytes_of<std::uint64_t>(20u << 20) + std::string(20u << 20, '\0'));
  CHECK(refusal(file.bytes()) == ErrorCode::kCorruption);
}

TEST_CASE("SmolLM2's GGUF: configuration") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const auto source = WeightSource::open(path->string());
  const ModelConfig& config = source->config();
  CHECK(config.family == "llama");
  CHECK(config.layers.size() == 30);
  CHECK(config.hidden == 576);
  CHECK(config.heads == 9);
  CHECK(config.kv_heads == 3);
  CHECK(config.head_dim == 64);
  CHECK(config.vocab_size == 49152);
  CHECK(config.context == 8192);
  CHECK(config.tied_embeddings);
  CHECK(config.ropes[0].theta == 100000.0);
  CHECK(source->parameters() == 134515008);
  CHECK(source->quantisation() == "mixed: Q4_1 Q8_0");
}

}  // namespace test_gguf

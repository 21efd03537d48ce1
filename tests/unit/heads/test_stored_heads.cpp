// Heads whose matrices stay in the 16 bits of their file: every answer has the bits of the same
// head in fp32, in half the memory.
#include <doctest/doctest.h>

#include <cstring>

#include "core/base/bf16.h"
#include "core/formats/half.h"
#include "core/heads/head_weights.h"
#include "tests/support/files.h"
#include "tests/support/head_bytes.h"
#include "tests/unit/heads/head_goldens.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace {

using nlohmann::ordered_json;

std::string bytes_of(std::uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i, number >>= 8) bytes += static_cast<char>(number & 255);
  return bytes;
}

// A safetensors file with its tensors of 16 bits as fp32.
std::string widened(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = ordered_json::parse(file.substr(8, length));
  ordered_json made;
  std::string data;
  int count = 0;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const std::string dtype = tensor["dtype"];
    const std::size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    std::string values = file.substr(8 + length + begin, end - begin);
    const bool half = dtype == "F16";
    if (half || dtype == "BF16") {
      std::string wide;
      for (std::size_t i = 0; i < values.size(); i += 2) {
        std::uint16_t bits;
        std::memcpy(&bits, values.data() + i, sizeof bits);
        const float value = half ? formats::f16_to_float(bits) : bf16_to_float(bits);
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof word);
        wide += bytes_of(word, 4);
      }
      values = wide;
      ++count;
    }
    made[name] = {{"dtype", half || dtype == "BF16" ? "F32" : dtype},
                  {"shape", tensor["shape"]},
                  {"data_offsets", {data.size(), data.size() + values.size()}}};
    data += values;
  }
  REQUIRE(count > 0);
  const std::string text = made.dump();
  return bytes_of(text.size(), 8) + text + data;
}

// A head of the fixtures in fp32.
void write_widened(const std::string& name, const std::filesystem::path& folder) {
  const std::string from = head_folder() + name;
  for (const char* file : {"model.safetensors", "medusa_lm_head.safetensors"}) {
    if (!std::filesystem::exists(from + "/" + file)) continue;
    std::ofstream(folder / file, std::ios::binary) << widened(read_file(from + "/" + file));
  }
  std::filesystem::copy_file(from + "/config.json", folder / "config.json");
}

struct Answers {
  std::vector<float> logits, states;

  bool operator==(const Answers&) const = default;
};

void append(std::vector<float>& to, std::span<const float> values) {
  to.insert(to.end(), values.begin(), values.end());
}

// Of the text's rows at once, then of a row that reads a drafted state; of each of Medusa's heads.
Answers answers_of(const HeadTarget& target, DraftHead& head) {
  Answers answers;
  if (head.layers) {
    HeadRun run(head);
    const ForwardOutput text = run.run(text_rows(target, head));
    append(answers.logits, text.logits);
    append(answers.states, text.features);
    const std::int32_t next = target.pairs();
    const auto hidden = static_cast<std::size_t>(head.layers->info().hidden);
    const ForwardOutput drafted =
        run.run({{7, next, next, up_to(next), copy(text.features.last(hidden))}});
    append(answers.logits, drafted.logits);
    append(answers.states, drafted.features);
  }
  for (int h = 0; head.tokens && h < head.tokens->count(); ++h) {
    const std::vector<std::int32_t> path{7, 8, 9, 10, 11};
    append(answers.logits,
           head.tokens->logits(h, target.states(head, 0),
                               head.tokens->reads_tokens()
                                   ? std::span(path).first(static_cast<std::size_t>(h) + 1)
                                   : std::span<const std::int32_t>()));
  }
  return answers;
}

TEST_CASE("a head of 16 bits has the bits of the same head in fp32") {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const HeadTarget target(load_model(head_folder() + "target", {.dtype = dtype, .threads = 2}));
    CAPTURE(to_string(dtype));
    for (const std::string name :
         {"eagle-vllm", "eagle-no-bias", "eagle3-specforge", "eagle3-qwen3", "hydra-shared-head",
          "medusa-v2", "medusa-vllm"}) {
      CAPTURE(name);
      const TempDir folder;
      write_widened(name, folder.path());
      const auto stored = target.head(name);
      const auto wide = load_draft_head(folder.path().string(), *target.model, 1);
      const Answers found = answers_of(target, *stored), expected = answers_of(target, *wide);
      CHECK_FALSE(found.logits.empty());
      CHECK(found == expected);
    }
  }
}

TEST_CASE("a head's matrix lies in memory as in its file; bf16 rounds fp32 and fp16 to 16 bits") {
  ThreadPool pool(1);
  const auto bytes = [&](const char* dtype, kernels::Precision precision) {
    HeadBytes head = eagle3_bytes();
    for (const char* part : {"q", "k", "v"})
      head.tensors["midlayer.self_attn." + std::string(part) + "_proj.weight"].dtype = dtype;
    const formats::HeadFile file = head.open();
    HeadLoader loader(file, precision, pool);
    return loader.layer("midlayer.").qkv.bytes();
  };
  using enum kernels::Precision;
  const std::size_t wide = bytes("F32", kF32);
  CHECK(wide >= 32 * 32 * sizeof(float));
  for (const char* dtype : {"F16", "BF16"}) CHECK(bytes(dtype, kF32) == wide / 2);
  for (const char* dtype : {"F32", "F16", "BF16"}) CHECK(bytes(dtype, kBF16) == wide / 2);
}

}  // namespace
}  // namespace triescope::test

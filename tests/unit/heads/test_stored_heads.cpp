// Heads whose matrices stay in the 16 bits of their file: every answer has the bits of the same
// head in fp32, in half the memory.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/model/heads/head_weights.h"
#include "tests/support/head_bytes.h"
#include "tests/unit/heads/head_goldens.h"

namespace triescope::test {
namespace {

// A head of the fixtures with its tensors of 16 bits as fp32.
void write_widened(const std::string& name, const std::filesystem::path& folder) {
  const std::string from = head_folder() + name;
  const auto stored = formats::StoredTensors::open(from);
  HeadBytes head;
  int count = 0;
  for (std::size_t i = 0; i < stored.tensors().size(); ++i) {
    const formats::SafeTensor& tensor = stored.tensors()[i];
    const std::vector<std::byte> bytes = stored.read(i);
    TensorSpec& made = head.tensors[tensor.name] = {
        tensor.shape, tensor.dtype, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    const bool half = tensor.dtype == "F16";
    if (!half && tensor.dtype != "BF16") continue;
    formats::HeadTensor narrow;
    narrow.type = half ? formats::ElementType::kF16 : formats::ElementType::kBf16;
    narrow.bytes = bytes;
    const std::vector<float> wide = narrow.floats();
    made.dtype = "F32";
    made.values = {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(float)};
    ++count;
  }
  REQUIRE(count > 0);
  head.stored();
  std::ofstream(folder / "model.safetensors", std::ios::binary) << head.file;
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

TEST_CASE("stored heads: a head of 16 bits has the bits of the same head in fp32") {
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

TEST_CASE(
    "stored heads: a head's matrix lies in memory as in its file; bf16 rounds fp32 and fp16 to 16 bits") {
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

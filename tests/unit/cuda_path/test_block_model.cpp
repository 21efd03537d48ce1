// Models whose quantised matrices stay in their blocks on the CUDA path (the stand-in runs the
// kernels), against the same path with weights expanded on loading and against the CPU's kernels.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/kernels/linear.h"
#include "core/model/block_types.h"
#include "core/model/memory_need.h"
#include "core/model/torch/kept_blocks.h"
#include "core/model/transformer.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test::test_block_model {
namespace {

using formats::GgmlType;
using nlohmann::json;

const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

// A file of stored_llama.h in a folder of its own.
class LlamaFile {
 public:
  template <class TypeOf>
  LlamaFile(const TypeOf& type_of, std::uint64_t seed, bool tied = false)
      : path_((folder_.path() / "model.gguf").string()) {
    std::ofstream(path_, std::ios::binary) << llama_file(type_of, seed, tied);
  }
  const std::string& path() const { return path_; }
  std::unique_ptr<Model> load(DType dtype, bool stored,
                              LayerSteps steps = LayerSteps::kKernels) const {
    return load_torch_model(path_, dtype, steps, stored);
  }

 private:
  TempDir folder_;
  std::string path_;
};

std::vector<std::int32_t> some_ids(int count) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i)
    ids.push_back((i * 29 + 7) % static_cast<std::int32_t>(kStoredVocab));
  return ids;
}

double largest_of(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(double{value}));
  return largest;
}

TEST_CASE("CUDA path: a file of any type of blocks has the logits of its expanded weights") {
  REQUIRE(use_stand_in);
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const bool blocks = computes_from_blocks(type, true);
    const LlamaFile file([&](const std::string&) { return type; },
                         static_cast<std::uint64_t>(type) + 200);
    const auto stored = file.load(DType::kF32, true), expanded = file.load(DType::kF32, false);
    CAPTURE(formats::to_string(type));
    CHECK(stored->info().warning.empty() == (blocks || formats::block_elements(type) == 1));
    CHECK(stored->info().row_costs.cheap_rows == (blocks ? 8 : 33));
    CHECK(expanded->info().row_costs.cheap_rows == 33);
    // A few rows through the kernel, many by tiles, then one.
    for (const int count : {5, 33}) {
      CAPTURE(count);
      const auto a = stored->make_kv(count + 1), b = expanded->make_kv(count + 1);
      const auto got = all_logits(*stored, *a, some_ids(count)),
                 want = all_logits(*expanded, *b, some_ids(count));
      CHECK(got.size() == static_cast<std::size_t>(count) * kStoredVocab);
      CHECK(max_difference(got, want) < 1e-4 * largest_of(want));
      const auto next = step_logits(*stored, *a, count, 11),
                 their_next = step_logits(*expanded, *b, count, 11);
      CHECK(max_difference(next, their_next) < 1e-4 * largest_of(their_next));
    }
  }
}

TEST_CASE(
    "CUDA path: with weights in blocks a row's logits depend on its path alone, bit for bit") {
  // Every matrix in blocks: libtorch's own products choose their kernel by the number of rows.
  const LlamaFile file(
      [](const std::string& name) {
        const GgmlType mixed = mixed_type(name);
        return formats::block_elements(mixed) > 1 ? mixed : GgmlType::kQ5_K;
      },
      301);
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const auto model = file.load(dtype, true);
    const std::vector<std::int32_t> ids = some_ids(19);
    const auto kv = model->make_kv(20), one_by_one = model->make_kv(20);
    const std::vector<float> together = all_logits(*model, *kv, ids);
    for (int i = 0; i < 19; ++i) {
      CAPTURE(to_string(dtype));
      CAPTURE(i);
      const std::vector<float> alone =
          step_logits(*model, *one_by_one, i, ids[static_cast<std::size_t>(i)]);
      CHECK(std::memcmp(alone.data(), together.data() + i * static_cast<int>(kStoredVocab),
                        kStoredVocab * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("CUDA path: a quantised file gives the CPU path's texts: greedy, beams and drafts") {
  const std::vector<std::int32_t> prompt = {5, 9, 2, 17, 5, 9, 2, 30, 11, 5, 9, 2};
  for (const bool tied : {false, true}) {
    const LlamaFile file(mixed_type, 302, tied);
    const auto cpu = load_model(file.path(), {.threads = 1});
    const auto gpu = file.load(DType::kF32, true);
    CHECK(gpu->info().tied_embeddings == tied);
    const FakeTokenizer tokenizer(static_cast<int>(kStoredVocab), {0});
    const auto decode = [&](Model& model, const std::string& method, json settings) {
      RunConfig config;
      config.method = method;
      config.settings = std::move(settings);
      config.prompt_tokens = prompt;
      config.max_new_tokens = 10;
      capture::NullRecorder recorder;
      Session session(model, tokenizer, config, recorder);
      session.run();
      std::vector<std::vector<std::int32_t>> texts;
      for (const auto& sequence : session.result().sequences) texts.push_back(sequence.tokens);
      return texts;
    };
    CAPTURE(tied);
    const auto greedy = decode(*cpu, "greedy", json::object());
    CHECK(greedy.size() == 1);
    CHECK(greedy[0].size() == 10);
    CHECK(decode(*gpu, "greedy", json::object()) == greedy);
    CHECK(decode(*gpu, "ngram_trie", json::object()) == greedy);
    const json beams = {{"num_beams", 3}, {"num_return_sequences", 3}};
    const auto want = decode(*cpu, "beam", beams);
    CHECK(want.size() == 3);
    CHECK(decode(*gpu, "beam", beams) == want);
  }
}

TEST_CASE("CUDA path: bf16 and f16 beside blocks: near the fp32 logits, weights not rounded") {
  const LlamaFile file([](const std::string&) { return GgmlType::kQ6_K; }, 303);
  const auto logits = [&](DType dtype, bool stored) {
    const auto model = file.load(dtype, stored);
    const auto kv = model->make_kv(1);
    return all_logits(*model, *kv, {3});
  };
  // One row that attends to itself alone: no attention weight to tip over.
  const std::vector<float> want = logits(DType::kF32, true);
  const double largest = largest_of(want);
  CHECK(max_difference(logits(DType::kBF16, true), want) < 0.05 * largest);
  CHECK(max_difference(logits(DType::kBF16, false), logits(DType::kBF16, true)) > 0);
}

TEST_CASE("CUDA path: what is shared with a draft head comes from blocks too") {
  for (const bool tied : {false, true}) {
    const LlamaFile file([](const std::string&) { return GgmlType::kQ4_1; }, 304, tied);
    const auto stored = file.load(DType::kF32, true), expanded = file.load(DType::kF32, false);
    const std::vector<std::int32_t> tokens = {69, 0, 12};
    std::vector<float> got(3 * kStoredWidth), want(got.size());
    stored->embed(tokens, got);
    expanded->embed(tokens, want);
    CHECK(got == want);
    const auto mine = stored->output_head(got), theirs = expanded->output_head(want);
    CHECK(mine.size() == 3 * kStoredVocab);
    const std::vector<float> values(theirs.begin(), theirs.end());
    CHECK(max_difference(mine, values) < 1e-5 * largest_of(values));
  }
}

TEST_CASE("CUDA path: libtorch's operations and weights asked for expanded keep no blocks") {
  const LlamaFile file([](const std::string&) { return GgmlType::kQ4_0; }, 305);
  const auto logits = [&](bool stored, LayerSteps steps) {
    const auto model = file.load(DType::kF32, stored, steps);
    CHECK(model->info().warning.empty());
    const auto kv = model->make_kv(4);
    return all_logits(*model, *kv, {3, 1, 2});
  };
  const auto plain = logits(true, LayerSteps::kOperations);
  CHECK(plain == logits(false, LayerSteps::kOperations));
  CHECK(plain != logits(true, LayerSteps::kKernels));
}

// A prompt's piece is larger on a GPU: what its rows take more.
std::int64_t more_rows(const ModelInfo& info) {
  const std::int64_t row =
      3 * info.hidden + 2 * (info.heads + info.kv_heads) * info.head_dim + 3 * info.intermediate;
  return 4 * (1024 - 256) * row;
}

TEST_CASE("memory: on a GPU blocks stay as they are, and the rest has the dtype asked for") {
  const LlamaFile file(mixed_type, 306);
  const ModelInfo info = inspect_model(file.path());
  // Per layer q in Q4_K, k in Q6_K, gate in Q5_1, up in IQ4_NL, down in Q3_K; the embedding Q8_0.
  constexpr std::int64_t kBlock = 256;
  CHECK(info.block_parameters == kBlock * (70 + 2 * (std::int64_t{256} + 128 + 512 + 512 + 512)));
  const std::int64_t layer = 256 * 144 + 128 * 210 + 512 * 8 * 24 + 512 * 8 * 18 + 256 * 2 * 110;
  CHECK(info.block_bytes == 70 * 8 * 34 + 2 * layer);
  const std::int64_t rest = info.parameters - info.block_parameters;
  // The head, v and the attention's output; the norms.
  CHECK(rest == kBlock * (70 + 2 * (128 + 256)) + 5 * 256);
  LoadOptions gpu{.device = "cuda"};
  CHECK(memory_need(info, gpu).weights == info.block_bytes + 4 * rest);
  // The largest matrix in blocks is dense at once in a forward of many rows; attention's scratch.
  const std::int64_t partitions = (info.context + 127) / 128;
  CHECK(memory_need(info, gpu).scratch ==
        memory_need(info, {}).scratch + more_rows(info) + 512 * 256 * 4 +
            partitions * 1024 * info.heads * (info.head_dim + 2) * 4);
  gpu.dtype = DType::kBF16;
  CHECK(memory_need(info, gpu).weights == info.block_bytes + 2 * rest);
  gpu.stored_weights = false;
  CHECK(memory_need(info, gpu).weights == 2 * info.parameters);
  gpu.stored_weights = true;
  gpu.reference_kernels = true;
  CHECK(memory_need(info, gpu).weights == 2 * info.parameters);
  CHECK(memory_need(info, gpu).scratch == memory_need(info, {}).scratch + more_rows(info));
}

TEST_CASE("memory: MXFP4 and NVFP4 stay in their blocks on the CPU and are widened on a GPU") {
  for (const GgmlType type : {GgmlType::kMXFP4, GgmlType::kNVFP4}) {
    CAPTURE(formats::to_string(type));
    const LlamaFile file(
        [&](const std::string& name) {
          return name.find("ffn_") == std::string::npos ? GgmlType::kQ8_0 : type;
        },
        307);
    const ModelInfo info = inspect_model(file.path());
    constexpr std::int64_t kWidened = std::int64_t{2} * 3 * 256 * 512;
    CHECK(info.widened_parameters == 0);
    CHECK(info.notes.empty());
    CHECK(memory_need(info, {}).weights == info.file_bytes);
    const std::int64_t blocks = info.block_parameters / 32 * 34;
    CHECK(info.block_bytes == blocks);
    CHECK(info.parameters - info.block_parameters == kWidened + 5 * 256);
    CHECK(memory_need(info, {.device = "cuda", .dtype = DType::kBF16}).weights ==
          blocks + 2 * (kWidened + 5 * 256));
  }
}

TEST_CASE("memory: Llama-3.1-8B in Q4_K_M takes 5 GB of weights on a GPU") {
  ModelInfo info;
  info.quantisation = "mixed: Q4_K Q6_K";
  info.parameters = 8'030'261'248;
  info.file_bytes = 4'920'734'000;
  info.block_parameters = 8'029'995'008;
  info.block_bytes = 4'911'500'000;
  info.layers = 32;
  info.hidden = 4096;
  info.heads = 32;
  info.kv_heads = 8;
  info.head_dim = 128;
  info.intermediate = 14336;
  info.vocab_size = 128256;
  const MemoryNeed need = memory_need(info, {.device = "cuda", .dtype = DType::kBF16});
  CHECK(need.weights == 4'911'500'000 + 2 * 266'240);
  CHECK(need.scratch == memory_need(info, {}).scratch + more_rows(info) + kBlockTileBytes);
}

TEST_CASE("memory: blocks that have to be expanded are asked about before anything is read") {
  const LlamaFile file(mixed_type, 306);
  const auto source = formats::WeightSource::open(file.path());
  const ModelInfo info = inspect_model(file.path());
  // All but Q4_K and Q6_K: k and q stay, 2 layers of 256 and 128 outputs.
  KeptBlocks blocks{.types = {GgmlType::kQ4_K, GgmlType::kQ6_K}, .warning = "some are expanded"};
  const std::int64_t kept_values = std::int64_t{2} * 256 * (256 + 128);
  const std::int64_t need = 2 * (256 * 144 + 128 * 210) + 2 * (info.parameters - kept_values);
  check_room_for_expanded(*source, blocks, DType::kBF16, need);
  check_room_for_expanded(*source, blocks, DType::kBF16, -1);
  const std::string why = refusal(ErrorCode::kOutOfMemory, [&] {
    check_room_for_expanded(*source, blocks, DType::kBF16, need - 1);
  });
  CHECK(why.starts_with("some are expanded. So the weights take "));
  CHECK(why.ends_with(" are free; take a smaller model or --device cpu"));
  CHECK(refusal(ErrorCode::kOutOfMemory, [&] {
          check_room_for_expanded(*source, blocks, DType::kF32, need);
        }).ends_with(", --dtype bf16 or --device cpu"));
  // Nothing is expanded: memory_need() has told all.
  blocks.warning.clear();
  check_room_for_expanded(*source, blocks, DType::kBF16, 1);
}

}  // namespace
}  // namespace triescope::test::test_block_model

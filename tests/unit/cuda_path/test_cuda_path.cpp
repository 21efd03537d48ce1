// What runs on a GPU, with host memory in place of device memory: libtorch's executor with the
// project's tree-attention kernel, whose source a stand-in module runs on the CPU. Tests how the
// path uses the kernel (shapes, strides, lists, windows, scratch, dtypes, errors), not the GPU.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/model/transformer.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/skip.h"
#include "tests/unit/cuda_path/failing_launches.h"
#include "tests/unit/cuda_path/fallbacks.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/executor_check.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_cuda_path {
namespace {

using nlohmann::json;

// Before anything asks for the module.
const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

TEST_CASE("CUDA path: the module is the stand-in") {
  REQUIRE(use_stand_in);
  CHECK(kernels::cuda_module().path == TRIESCOPE_CUDA_STAND_IN);
  CHECK(kernels::cuda_module().reason.empty());
}

TEST_CASE(
    "CUDA path: tiny models of every family have transformers' logits and hidden states through "
    "the kernel") {
  const json golden = golden_families();
  const auto ids = golden["ids"].get<std::vector<std::int32_t>>();
  for (const auto& [name, entry] : golden["cases"].items()) {
    CAPTURE(name);
    const TempDir folder;
    write_golden_model(entry, folder.path());
    const auto model = load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kKernels);
    CHECK(reasons_of(model->info().warning) == expected_reasons(name));
    const auto kv = model->make_kv(static_cast<int>(ids.size()));
    CHECK(golden_difference(entry, all_logits(*model, *kv, ids)) < 2e-4);
    CHECK(golden_feature_difference(golden, entry, *model) < 2e-4);
  }
}

TEST_CASE("CUDA path: computes what plain loops compute, in every layer and every setting") {
  check_executor([](const std::filesystem::path& folder) {
    return load_torch_model(folder.string(), DType::kF32, LayerSteps::kKernels);
  });
}

TEST_CASE("CUDA path: rows that see 1, 127, 128, 129 and 257 slots, windows on either side too") {
  const json golden = golden_families();
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 257; ++i) ids.push_back((i * 29 + 7) % 64);
  const std::vector<std::int32_t> order = iota(257);
  for (const auto& [name, window] : {std::pair{"llama", 0}, {"mistral", 128}, {"mistral", 129}}) {
    json entry = golden["cases"][name];
    entry["config"]["max_position_embeddings"] = 512;
    if (window > 0) entry["config"]["sliding_window"] = window;
    const TempDir folder;
    write_golden_model(entry, folder.path());
    const auto plain =
        load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kOperations);
    const auto kernel = load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kKernels);
    const auto kv = plain->make_kv(257 + 5), plain_kv = plain->make_kv(257 + 5);
    for (KvStorage* storage : {kv.get(), plain_kv.get()}) all_logits(*plain, *storage, ids);
    const int seen[] = {1, 127, 128, 129, 257};
    for (const int prefix : {0, 126, 127, 128, 129, 256}) {
      // The last token of each list once more, in a slot of its own.
      std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0};
      for (const int length : seen) {
        if (length <= prefix) continue;
        slots.push_back(257 + static_cast<std::int32_t>(slots.size()));
        tokens.push_back(ids[static_cast<std::size_t>(length - 1)]);
        positions.push_back(length - 1);
        own.insert(own.end(), order.begin() + prefix, order.begin() + length - 1);
        own.push_back(slots.back());
        offsets.push_back(static_cast<std::int32_t>(own.size()));
      }
      const std::vector<std::int32_t> rows = iota(static_cast<int>(slots.size())), layers = {1, 4};
      ForwardBatch batch;
      batch.tokens = tokens;
      batch.positions = positions;
      batch.slots = slots;
      batch.prefix_slots = std::span(order).first(static_cast<std::size_t>(prefix));
      batch.own_slots = own;
      batch.own_offsets = offsets;
      batch.logit_rows = batch.feature_rows = rows;
      batch.feature_layers = layers;
      const ForwardOutput got = kernel->forward(batch, *kv),
                          want = plain->forward(batch, *plain_kv);
      CAPTURE(name);
      CAPTURE(window);
      CAPTURE(prefix);
      CHECK(got.features.size() == rows.size() * 2 * 32);
      CHECK(max_difference(got.features, want.features) < 1e-5);
      CHECK(max_difference(got.logits, want.logits) < 1e-5);
    }
  }
}

TEST_CASE("CUDA path: hidden states change no logit by a bit, in any dtype") {
  const TempDir folder;
  write_golden_case("gemma2", folder.path());
  const std::vector<std::int32_t> ids = {5, 9, 2, 17, 30, 11}, order = iota(6), rows = {2, 5},
                                  layers = {kFinalNorm, 0, 4};
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    CAPTURE(to_string(dtype));
    const auto model = load_torch_model(folder.path().string(), dtype, LayerSteps::kKernels);
    const auto kv = model->make_kv(6);
    ForwardBatch batch;
    batch.tokens = ids;
    batch.positions = batch.slots = batch.logit_rows = order;
    const ForwardOutput plain = model->forward(batch, *kv);
    const std::vector<float> logits(plain.logits.begin(), plain.logits.end());
    CHECK(plain.features.empty());
    batch.feature_layers = layers;
    batch.feature_rows = rows;
    const ForwardOutput output = model->forward(batch, *kv);
    CHECK(std::equal(output.logits.begin(), output.logits.end(), logits.begin(), logits.end()));
    CHECK(output.features.size() == 3 * 2 * 32);
    batch.logit_rows = {};
    const std::vector<float> features(output.features.begin(), output.features.end());
    const ForwardOutput alone = model->forward(batch, *kv);
    CHECK(alone.logits.empty());
    CHECK(
        std::equal(alone.features.begin(), alone.features.end(), features.begin(), features.end()));
  }
}

TEST_CASE("CUDA path: bf16 and f16 through the kernel are close to libtorch's operations") {
  const json golden = golden_families();
  const auto ids = golden["ids"].get<std::vector<std::int32_t>>();
  for (const char* name : {"llama", "mistral", "gemma2", "gpt2"}) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      const TempDir folder;
      write_golden_model(golden["cases"][name], folder.path());
      std::vector<float> logits[2];
      for (const auto steps : {LayerSteps::kOperations, LayerSteps::kKernels}) {
        const auto model = load_torch_model(folder.path().string(), dtype, steps);
        const auto kv = model->make_kv(static_cast<int>(ids.size()));
        logits[static_cast<int>(steps)] = all_logits(*model, *kv, ids);
      }
      float largest = 0;
      for (const float logit : logits[0]) largest = std::max(largest, std::abs(logit));
      const double difference = max_difference(logits[0], logits[1]);
      CHECK(difference > 0);  // two ways of computing, not one
      CHECK(difference < largest * (dtype == DType::kBF16 ? 0.05 : 0.006));
    }
  }
}

TEST_CASE("CUDA path: beam search, speculation and every KV policy give the CPU path's texts") {
  const json golden = golden_families();
  const std::vector<std::int32_t> prompt = {5, 9, 2, 17, 5, 9, 2, 30, 11, 5, 9, 2};
  std::int64_t rows = 0;
  for (const char* name : {"llama", "mistral", "gemma3", "phi3"}) {
    CAPTURE(name);
    const TempDir folder;
    write_golden_model(golden["cases"][name], folder.path());
    const auto cpu = load_model(folder.path().string(), {.threads = 1});
    const auto gpu = load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kKernels);
    const FakeTokenizer tokenizer(cpu->info().vocab_size, {0});
    const auto decode = [&](Model& model, const std::string& method, json settings) {
      RunConfig config;
      config.method = method;
      config.settings = std::move(settings);
      config.prompt_tokens = prompt;
      config.max_new_tokens = 12;
      config.draft = {cpu.get(), &tokenizer};
      capture::NullRecorder recorder;
      Session session(model, tokenizer, config, recorder);
      session.run();
      const RunResult result = session.result();
      rows += result.emitted_tokens;
      std::vector<std::vector<std::int32_t>> texts;
      for (const auto& sequence : result.sequences) texts.push_back(sequence.tokens);
      return texts;
    };
    for (const char* kv : {"recycle", "compact", "keep", "batch"}) {
      CAPTURE(kv);
      const json settings = {
          {"num_beams", 4}, {"num_return_sequences", 4}, {"kv", kv}, {"gc_every", 3}};
      CHECK(decode(*gpu, "beam", settings) == decode(*cpu, "beam", settings));
    }
    const auto greedy = decode(*cpu, "greedy", json::object());
    CHECK(decode(*gpu, "greedy", json::object()) == greedy);
    CHECK(decode(*gpu, "ngram_trie", json::object()) == greedy);
    CHECK(decode(*gpu, "draft_model", {{"expansion", {2, 2}}}) == greedy);
  }
  CHECK(rows > 100);
}

TEST_CASE("CUDA path: the real model's texts are the CPU path's") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const auto cpu = load_model(path->string());
  // Expanded, because products from blocks take the fibres minutes; a text from blocks follows.
  const auto gpu = load_torch_model(*path, DType::kF32, LayerSteps::kKernels, false);
  const auto tokenizer = load_tokenizer(path->string());
  for (const json& settings :
       {json{{"num_beams", 1}}, json{{"num_beams", 3}, {"num_return_sequences", 3}}}) {
    std::vector<std::vector<std::int32_t>> texts[2];
    for (Model* model : {cpu.get(), gpu.get()}) {
      RunConfig config;
      config.settings = settings;
      config.prompt_tokens = tokenizer->encode("The capital of France is Paris. The capital of");
      config.max_new_tokens = 6;
      capture::NullRecorder recorder;
      Session session(*model, *tokenizer, config, recorder);
      session.run();
      for (const auto& sequence : session.result().sequences)
        texts[model == gpu.get()].push_back(sequence.tokens);
    }
    CHECK(texts[0] == texts[1]);
    CHECK(texts[0].size() == settings["num_beams"].get<std::size_t>());
  }
}

TEST_CASE("CUDA path: the real model's text from its blocks is the CPU path's") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const auto cpu = load_model(path->string());
  const auto gpu = load_torch_model(*path, DType::kF32, LayerSteps::kKernels);
  const auto tokenizer = load_tokenizer(path->string());
  std::vector<std::int32_t> texts[2];
  for (Model* model : {cpu.get(), gpu.get()}) {
    RunConfig config;
    config.prompt_tokens = tokenizer->encode("The capital of");
    config.max_new_tokens = 3;
    capture::NullRecorder recorder;
    Session session(*model, *tokenizer, config, recorder);
    session.run();
    texts[model == gpu.get()] = session.result().sequences.at(0).tokens;
  }
  CHECK(texts[0].size() == 3);
  CHECK(texts[0] == texts[1]);
}

TEST_CASE("CUDA path: greedy texts are those of libtorch's operations, in every family") {
  const json golden = golden_families();
  const std::vector<std::int32_t> prompt = {5, 9, 2, 17, 5, 9, 2};
  for (const auto& [name, entry] : golden["cases"].items()) {
    CAPTURE(name);
    const TempDir folder;
    write_golden_model(entry, folder.path());
    std::vector<std::int32_t> texts[2];
    for (const auto steps : {LayerSteps::kOperations, LayerSteps::kKernels}) {
      const auto model = load_torch_model(folder.path().string(), DType::kF32, steps);
      const FakeTokenizer tokenizer(model->info().vocab_size, {});
      RunConfig config;
      config.method = "greedy";
      config.settings = {{"eos_token_id", {-1}}};  // none
      config.prompt_tokens = prompt;
      config.max_new_tokens = 10;
      capture::NullRecorder recorder;
      Session session(*model, tokenizer, config, recorder);
      session.run();
      texts[static_cast<int>(steps)] = session.result().sequences.at(0).tokens;
    }
    CHECK(texts[1] == texts[0]);
    CHECK(texts[0].size() == 10);
  }
}

TEST_CASE(
    "CUDA path: a head size that the attention kernel does not do runs on libtorch's attention, and "
    "says so") {
  json entry = golden_families()["cases"]["llama"];
  entry["config"]["head_dim"] = 12;  // of 8
  for (json& tensor : entry["tensors"]) {
    const std::string name = tensor[0];
    if (name.find("o_proj") != std::string::npos) {
      tensor[1][1] = 4 * 12;
    } else if (name.find("self_attn") != std::string::npos) {
      tensor[1][0] = (name.find("q_proj") != std::string::npos ? 4 : 2) * 12;
    }
  }
  const TempDir folder;
  write_golden_model(entry, folder.path());
  const std::vector<std::int32_t> ids = {5, 9, 2, 17, 30};
  std::vector<float> logits[2];
  for (const auto steps : {LayerSteps::kOperations, LayerSteps::kKernels}) {
    const auto model = load_torch_model(folder.path().string(), DType::kF32, steps);
    CHECK(model->info().warning ==
          (steps == LayerSteps::kOperations
               ? ""
               : "attention runs on libtorch's operations instead of the tree-attention kernel, "
                 "with the same result and more slowly: the kernel takes head sizes that are "
                 "multiples of 8 up to 256, and this model's is 12"));
    const auto kv = model->make_kv(5);
    logits[static_cast<int>(steps)] = all_logits(*model, *kv, ids);
  }
  CHECK(max_difference(logits[0], logits[1]) < 1e-5);
}

TEST_CASE("CUDA path: a launch that fails is an error that says where and why") {
  const TempDir folder;
  write_golden_case("llama", folder.path());
  const auto model = load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kKernels);
  const auto kv = model->make_kv(4);
  for (const auto& [error, kernel] : {std::pair{"700", "embedding and norm"},
                                      {"700 embed_norm", "embedding and norm"},
                                      {"700 add_norm", "add and norm"},
                                      {"700 split_qkv_heads<T>", "split of q, k and v"},
                                      {"700 attention_partitions", "tree attention"},
                                      {"700 attention_combine", "tree attention"},
                                      {"700 gated_activation", "activation"}}) {
    CAPTURE(error);
    const auto thrown = error_of_failing_launches(error, [&] {
      all_logits(*model, *kv, {1, 2, 3});
    });
    REQUIRE(thrown);
    CHECK(thrown->code() == ErrorCode::kCuda);
    CHECK(thrown->what() == std::string(kernel) + " on cpu: an error of the stand-in");
  }
}

TEST_CASE("CUDA path: a launch without memory is a lack of memory, which a run waits for") {
  const TempDir folder;
  write_golden_case("llama", folder.path());
  const auto model = load_torch_model(folder.path().string(), DType::kF32, LayerSteps::kKernels);
  const auto kv = model->make_kv(4);
  constexpr const char* kNoMemory = "2 add_norm";  // cudaErrorMemoryAllocation
  const auto thrown = error_of_failing_launches(kNoMemory, [&] {
    all_logits(*model, *kv, {1, 2, 3});
  });
  REQUIRE(thrown);
  CHECK(thrown->code() == ErrorCode::kOutOfMemory);
  CHECK(std::string(thrown->what())
            .starts_with("no memory on cpu for a forward over 3 rows (add and norm on cpu: "));
  // Nor is it an obstacle to the kernel, for which blocks would be expanded.
  const auto on_loading = error_of_failing_launches(
      kNoMemory, [&] { load_torch_model(folder.path().string(), DType::kF32); });
  REQUIRE(on_loading);
  CHECK(on_loading->code() == ErrorCode::kOutOfMemory);
}

}  // namespace
}  // namespace triescope::test::test_cuda_path

// SPACE's masks out of files, on small real models: BiTA's form with a prefix, and a model that was tuned
// as a whole, whose embedding holds the masks. Whatever they guess, greedy text stays the model's.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/rng.h"
#include "core/files/half.h"
#include "core/model/heads/draft_head.h"
#include "core/model/model.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/head_bytes.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_mask_files {
namespace {

using nlohmann::json;

// Masks for the golden models: 4 layers, 2 K/V heads of 8, hidden size 32.
struct MaskFile {
  explicit MaskFile(int masks, int prefix) {
    HeadBytes head{{}, R"({"model_type": "space"})", ""};
    add(head, "mask_embeddings", {masks, 32}, 0.5);
    if (prefix > 0) {
      add(head, "prefix_keys", {4, 2, prefix, 8}, 2);
      add(head, "prefix_values", {4, 2, prefix, 8}, 2);
    }
    head.stored();
    write("model.safetensors", head.file);
    write("config.json", head.config);
  }
  void add(HeadBytes& head, const std::string& name, std::vector<std::int64_t> shape,
           double spread) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::string bytes;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>((2 * rng.uniform() - 1) * spread);
      values[name].push_back(value);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    head.tensors[name] = {std::move(shape), "F32", bytes};
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
  }
  std::string path() const { return folder.path().string(); }

  TempDir folder;
  Rng rng{4};
  std::map<std::string, std::vector<float>> values;
};

std::vector<std::int32_t> text_of(Model& model, const std::string& method, DraftHead* head,
                                  json settings, std::int64_t* accepted = nullptr) {
  const FakeTokenizer tokenizer(64, {2});
  MemoryRecorder recorder;
  RunConfig config;
  config.method = method;
  config.settings = std::move(settings);
  config.prompt_tokens = {1, 17, 42, 5, 33, 60, 8, 21, 50, 13, 29, 3};
  config.max_new_tokens = 40;
  config.draft = {nullptr, nullptr, head};
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  if (accepted)
    for (const capture::StepRow& step : recorder.steps) *accepted += step.accepted;
  return session.result().sequences.at(0).tokens;
}

TEST_CASE("mask files: a prefix is turned from the file's order to that of the KV's slots") {
  const TempDir folder;
  write_golden_case("llama", folder.path());
  const auto model = load_model(folder.path().string(), {.threads = 2});
  const MaskFile file(3, 5);
  const auto head = load_draft_head(file.path(), *model);
  REQUIRE(head->masks != nullptr);
  const MaskInputs& masks = *head->masks;
  CHECK(masks.count == 3);
  CHECK(masks.prefix == 5);
  CHECK(masks.embeddings == file.values.at("mask_embeddings"));
  for (const auto& [name, turned] : {std::pair{"prefix_keys", &masks.prefix_keys},
                                     std::pair{"prefix_values", &masks.prefix_values}}) {
    const std::vector<float>& stored = file.values.at(name);
    REQUIRE(turned->size() == stored.size());
    for (std::size_t layer = 0; layer < 4; ++layer)
      for (std::size_t kv_head = 0; kv_head < 2; ++kv_head)
        for (std::size_t p = 0; p < 5; ++p)
          for (std::size_t i = 0; i < 8; ++i)
            CHECK((*turned)[((layer * 5 + p) * 2 + kv_head) * 8 + i] ==
                  stored[((layer * 2 + kv_head) * 5 + p) * 8 + i]);
  }
  CHECK(head->parameters == 3 * 32 + 2 * 4 * 2 * 5 * 8);
}

TEST_CASE(
    "mask files: greedy text stays the model's, with any masks, in windows, under every KV policy") {
  for (const char* name : {"llama", "mistral", "gemma2", "gemma3"})
    for (const bool reference : {false, true}) {
      CAPTURE(name);
      CAPTURE(reference);
      const TempDir folder;
      write_golden_case(name, folder.path());
      const auto model =
          load_model(folder.path().string(), {.reference_kernels = reference, .threads = 2});
      const ModelInfo& info = model->info();
      if (info.layers != 4 || info.kv_heads != 2 || info.head_dim != 8) continue;
      const auto plain = text_of(*model, "greedy", nullptr, json::object());
      for (const int prefix : {0, 5}) {
        const MaskFile file(3, prefix);
        const auto head = load_draft_head(file.path(), *model);
        for (const char* kv : {"recycle", "compact", "keep"})
          CHECK(text_of(*model, "space", head.get(), {{"kv", kv}, {"num_masks", 3}}) == plain);
      }
    }
}

// A golden model whose config.json says which rows of its embedding are masks.
struct Checkpoint {
  explicit Checkpoint(const json& more) {
    write_golden_case("llama", folder.path());
    std::ifstream in(folder.path() / "config.json");
    json config = json::parse(in);
    config.update(more);
    std::ofstream(folder.path() / "config.json") << config.dump();
  }
  std::string path() const { return folder.path().string(); }
  TempDir folder;
};

TEST_CASE("mask files: a model that was tuned as a whole drafts with the masks of its embedding") {
  for (const json& config : {json{{"space_mask_ids", {61, 62, 63}}},
                             json{{"space_mask_ids", 63}, {"space_num_masks", 3}}}) {
    CAPTURE(config.dump());
    const Checkpoint checkpoint(config);
    const auto model = load_model(checkpoint.path(), {.threads = 2});
    const auto head = load_draft_head(checkpoint.path(), *model);
    REQUIRE(head->masks != nullptr);
    CHECK(head->config.kind == formats::HeadKind::kSpace);
    CHECK(head->masks->count == 3);
    CHECK(head->masks->prefix == 0);
    CHECK(head->parameters == 3 * 32);
    const bool one = config["space_mask_ids"].is_number();
    const std::vector<std::int32_t> ids =
        one ? std::vector<std::int32_t>{63, 63, 63} : std::vector<std::int32_t>{61, 62, 63};
    std::vector<float> rows(3 * 32);
    model->embed(ids, rows);
    CHECK(head->masks->embeddings == rows);
    CHECK(text_of(*model, "space", head.get(), {{"num_masks", 3}}) ==
          text_of(*model, "greedy", nullptr, json::object()));
  }
}

TEST_CASE("mask files: a model that contradicts its masks is refused, and says what to mend") {
  const auto refused = [](const json& config) {
    const Checkpoint checkpoint(config);
    const auto model = load_model(checkpoint.path(), {.threads = 2});
    return refusal(ErrorCode::kCorruption, [&] { load_draft_head(checkpoint.path(), *model); });
  };
  CHECK(refused({{"space_mask_ids", {62, 64}}})
            .find("expected ids of embedding rows, from 0 to 63") != std::string::npos);
  CHECK(refused({{"space_mask_ids", {62, 63}}, {"space_num_masks", 3}})
            .find("expected one id for all masks, or one for each of the 3 that space_num_masks "
                  "says") != std::string::npos);
  CHECK(refused({{"space_mask_ids", 63}, {"space_num_masks", 65}})
            .find("expected masks from 1 to 64, found 65") != std::string::npos);
}

}  // namespace
}  // namespace triescope::test::test_mask_files

// Files of MTP layers and DFlash heads: the forms in which they are stored, what is read out of them, and the refusals.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/draft_head/head_file.h"
#include "tests/support/files.h"
#include "tests/support/head_bytes.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace triescope::formats::test_ahead_heads {
namespace {

using test::add_layer;
using test::HeadBytes;
using test::refusal;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const TargetShape kTarget = [] {
  TargetShape target;
  target.name = "target";
  target.hidden = 16;
  target.vocab = 64;
  target.layers = 8;
  return target;
}();

// One layer with what stands beside it, under the names of a form.
HeadBytes mtp_bytes(const std::string& block, const std::vector<std::string>& beside) {
  HeadBytes head{{}, test::kHeadConfig, ""};
  add_layer(head, block, 16, 16);
  head.tensors[block + "input_layernorm.weight"] = {{16}};
  head.tensors[beside[0]] = {{16, 32}};
  for (std::size_t i = 1; i < beside.size(); ++i) head.tensors[beside[i]] = {{16}};
  return head;
}
HeadBytes qwen() {
  return mtp_bytes("mtp.layers.0.", {"mtp.fc.weight", "mtp.pre_fc_norm_embedding.weight",
                                     "mtp.pre_fc_norm_hidden.weight", "mtp.norm.weight"});
}
HeadBytes deepseek() {
  return mtp_bytes("model.layers.8.",
                   {"model.layers.8.eh_proj.weight", "model.layers.8.enorm.weight",
                    "model.layers.8.hnorm.weight", "model.layers.8.shared_head.norm.weight"});
}
HeadBytes mimo() {
  const std::string block = "model.mtp_layers.0.";
  return mtp_bytes(block, {block + "input_proj.weight", block + "token_layernorm.weight",
                           block + "hidden_layernorm.weight", block + "final_layernorm.weight"});
}
HeadBytes dflash(const std::string& more) {
  HeadBytes head{{}, test::kHeadConfig, ""};
  head.config = head.config.substr(0, head.config.size() - 1) + ", " + more + "}";
  for (const char* layer : {"layers.0.", "layers.1."}) {
    add_layer(head, layer, 16, 16);
    head.tensors[std::string(layer) + "input_layernorm.weight"] = {{16}};
    for (const char* norm : {"q_norm", "k_norm"})
      head.tensors[std::string(layer) + "self_attn." + norm + ".weight"] = {{8}};
  }
  head.tensors["fc.weight"] = {{16, 48}};
  head.tensors["hidden_norm.weight"] = head.tensors["norm.weight"] = {{16}};
  return head;
}
constexpr const char* kPublished =
    R"("block_size": 8, "dflash_config": {"mask_token_id": 63, "target_layer_ids": [1, 4, 7]})";

std::string refused(HeadBytes head, ErrorCode code) {
  return refusal(code, [&] { head.open(kTarget); });
}

TEST_CASE("MTP files: the three ways to store a layer give one set of names") {
  for (HeadBytes head : {qwen(), deepseek(), mimo()}) {
    const bool is_mimo = head.tensors.contains("model.mtp_layers.0.input_proj.weight");
    CAPTURE(is_mimo);
    const HeadFile file = head.open(kTarget);
    CHECK(file.kind() == HeadKind::kMtp);
    for (const char* name : {"fc.weight", "embedding_norm.weight", "hidden_norm.weight",
                             "norm.weight", "layers.0.input_layernorm.weight",
                             "layers.0.self_attn.q_proj.weight", "layers.0.mlp.down_proj.weight"})
      CHECK(file.has(name));
    CHECK(file.names().size() == head.tensors.size());
    CHECK(file.config().norm_output);
    CHECK(file.config().heads == 2);
    CHECK(file.config().hidden_first == is_mimo);
    CHECK(file.config().blind_start == is_mimo);
    CHECK(file.config().feature_layers == std::vector<int>{is_mimo ? 8 : -1});
    CHECK(file.describe().starts_with("An MTP layer, reads "));
  }
  CHECK(has(mimo().open().describe(), "what leaves the target's last layer"));
}

TEST_CASE("MTP files: copies of the target's matrices and layers after the first are left out") {
  HeadBytes head = deepseek();
  head.tensors["model.layers.8.embed_tokens.weight"] = {{64, 16}};
  head.tensors["model.layers.8.shared_head.head.weight"] = {{64, 16}};
  head.tensors["model.layers.9.eh_proj.weight"] = {{16, 32}};
  add_layer(head, "model.layers.9.", 16, 16);
  const HeadFile file = head.open(kTarget);
  CHECK(file.names() == deepseek().open(kTarget).names());
  CHECK(file.config().mtp_layers == 2);
  REQUIRE(file.notes().size() == 1);
  CHECK(file.notes()[0] ==
        "the file has 2 MTP layers, one for each depth: the first drafts at every depth");
  CHECK(file.describe().starts_with("An MTP layer, the first of 2, reads "));
}

TEST_CASE("MTP files: a layer inside a model is the model's head, and the model stays a model") {
  const std::string model = (test::source_dir() / "tests/fixtures/mtp_qwen3").string();
  CHECK_FALSE(is_draft_head(model));
  CHECK(brings_draft_head(model));
  const HeadFile file = HeadFile::open(model, {});
  CHECK(file.kind() == HeadKind::kMtp);
  CHECK(file.config().qk_norm);
  CHECK(file.notes() == std::vector<std::string>());
  CHECK_FALSE(brings_draft_head((test::source_dir() / "tests/fixtures/tiny_llama").string()));
  CHECK_FALSE(brings_draft_head((test::source_dir() / "tests/fixtures/dflash").string()));
}

TEST_CASE("MTP files: blocks that the transformer does not do are refused by their names") {
  const auto with = [](const std::string& name, std::vector<std::int64_t> shape) {
    HeadBytes head = deepseek();
    head.tensors["model.layers.8." + name] = {std::move(shape)};
    return refused(head, ErrorCode::kNotSupported);
  };
  CHECK(has(with("mlp.gate.weight", {4, 16}), "a mixture of experts"));
  CHECK(has(with("mlp.experts.0.up_proj.weight", {4, 16}), "expected a dense block"));
  CHECK(has(with("self_attn.kv_a_proj_with_mqa.weight", {4, 16}), "multi-head latent attention"));
  CHECK(has(with("linear_attn.A_log", {4}), "linear attention"));
  CHECK(has(with("self_attn.q_proj.weight", {32, 16}), "gated attention"));
  CHECK(
      has(with("mlp.odd.weight", {4, 16}), "an MTP layer with a tensor 'layers.0.mlp.odd.weight'"));
  HeadBytes bare;
  bare.tensors["mtp.fc.weight"] = {{16, 32}};
  CHECK(has(refused(bare, ErrorCode::kCorruption), "layers.0.self_attn.q_proj.weight"));
}

TEST_CASE("DFlash files: both sets of names open, their layers count outputs") {
  HeadBytes published = dflash(kPublished);
  HeadBytes renamed =
      dflash(R"("block_size": 8, "mask_token_id": 63, "target_layer_ids": [1, 4, 7])");
  for (const auto& [from, to] :
       {std::pair("fc.weight", "encoder.fc.weight"),
        std::pair("hidden_norm.weight", "encoder.output_norm_enc.weight")}) {
    auto node = renamed.tensors.extract(from);
    node.key() = to;
    renamed.tensors.insert(std::move(node));
  }
  for (HeadBytes* head : {&published, &renamed}) {
    const HeadFile file = head->open(kTarget);
    CHECK(file.kind() == HeadKind::kDFlash);
    CHECK(file.config().layers == 2);
    CHECK(file.config().block_size == 8);
    CHECK(file.config().mask_token == 63);
    CHECK(file.config().feature_layers == std::vector<int>{2, 5, 8});
    CHECK(file.config().layer_convention == LayerConvention::kOutput);
    CHECK(file.has("hidden_norm.weight"));
    CHECK(file.notes() == std::vector<std::string>());
    CHECK(file.describe().starts_with(
        "A DFlash head of 2 layers for blocks of 8, reads the states entering layers "
        "2, 5, 8 (the file counts outputs: 1, 4, 7)"));
  }
  CHECK(published.open(kTarget, {1, 4, 7}).config().feature_layers == std::vector<int>{1, 4, 7});
  const std::string fixtures = (test::source_dir() / "tests/fixtures/dflash").string();
  CHECK(is_draft_head(fixtures));
  CHECK(is_draft_head(fixtures + "_encoder"));
}

TEST_CASE("DFlash files: what the configuration must say is asked for, and checked") {
  const auto says = [](const std::string& more) {
    return refused(dflash(more), ErrorCode::kCorruption);
  };
  CHECK(has(says(R"("block_size": 8)"), "expected target_layer_ids"));
  CHECK(has(says(R"("block_size": 8, "mask_token_id": 1, "target_layer_ids": [1, 4])"),
            "has states; found 2"));
  CHECK(has(says(R"("block_size": 8, "mask_token_id": 1, "target_layer_ids": [1, 4, 8])"),
            "expected 3 layers from 0 to 7"));
  CHECK(has(says(R"("block_size": 1, "mask_token_id": 1, "target_layer_ids": [1, 4, 7])"),
            "block_size: expected 2 to 256, found 1"));
  CHECK(has(says(R"("block_size": 8, "mask_token_id": 64, "target_layer_ids": [1, 4, 7])"),
            "mask_token_id: expected a row of the embedding, 0 to 63, found 64"));
  CHECK(has(says(R"("mask_token_id": 1, "target_layer_ids": [1, 4, 7])"), "block_size"));
  TargetShape wider = kTarget;
  wider.hidden = 24;
  HeadBytes head = dflash(kPublished);
  CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { head.open(wider); }),
            "for the target, found"));
}

}  // namespace
}  // namespace triescope::formats::test_ahead_heads

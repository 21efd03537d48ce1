// What HeadFile refuses, and what it says.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/support/head_bytes.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"
#include "tests/unit/files/head_fixtures.h"

namespace test_head_file {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

const TargetShape kTarget = [] {
  TargetShape target;
  target.name = "Tiny";
  target.hidden = 16;
  target.vocab = 64;
  target.layers = 8;
  target.heads = 2;
  target.kv_heads = 1;
  target.head_dim = 8;
  target.norm_eps = 1e-5f;
  target.rope.theta = 77;
  target.rope.dims = 8;
  return target;
}();

std::string refused(HeadBytes head, ErrorCode code, const TargetShape& target = kTarget,
                    std::vector<int> layers = {}) {
  return refusal(code, [&] { head.open(target, layers); });
}

std::string with_config(const std::string& more) {
  const std::string config = kHeadConfig;
  return config.substr(0, config.size() - 1) + ", " + more + "}";
}

// "head" with one tensor more, less or of another shape.
HeadBytes changed(HeadBytes head, const std::string& name, std::vector<std::int64_t> shape,
                  const std::string& dtype = "F16") {
  head.tensors[name] = {std::move(shape), dtype};
  return head;
}
HeadBytes without(HeadBytes head, const std::string& name) {
  head.tensors.erase(name);
  return head;
}

std::string i64(std::vector<std::int64_t> values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += bytes_of(value);
  return bytes;
}

}  // namespace

TEST_CASE("head file: kinds that are not decoded are refused by their names") {
  CHECK(has(refused(changed(eagle3_bytes(), "mask_hidden", {1, 1, 48}), ErrorCode::kNotSupported),
            "head: P-EAGLE"));
  CHECK(has(refused(changed(eagle3_bytes(), "midlayer.mlp.experts.0.up_proj.weight", {1}),
                    ErrorCode::kNotSupported),
            "mixture of experts"));
  CHECK(has(refused(changed(eagle3_bytes(), "markov_w1.weight", {1}), ErrorCode::kNotSupported),
            "DSpark"));
  HeadBytes cross;
  cross.tensors["hydra_attn.0.weight"] = {{16, 16}};
  CHECK(has(refused(cross, ErrorCode::kNotSupported), "Hydra with another architecture"));
  HeadBytes ungrounded;
  ungrounded.tensors["hydra_mlp.0.0.linear.weight"] = {{16, 16}};
  CHECK(has(refused(ungrounded, ErrorCode::kNotSupported), "grounded_heads"));
}

TEST_CASE("head file: SPACE's masks open by their tensors, with a prefix and without") {
  const HeadFile file = space_bytes().open(kTarget);
  CHECK(file.kind() == HeadKind::kSpace);
  CHECK(file.config().mask_count == 2);
  CHECK(file.config().mask_prefix == 3);
  CHECK(file.notes().empty());
  CHECK(file.parameters() == 2 * 16 + 2 * 8 * 3 * 8);
  CHECK(file.expected_target().layers == 8);
  CHECK(
      file.describe() ==
      "2 SPACE masks with a prefix of 3 positions in 8 layers, rows of the target's own forward. Drafts "
      "from all 64 tokens with the target's output head. 416 parameters, 1.1 kB. For a target with hidden "
      "size 16 and vocabulary 64.");
  const HeadFile bare =
      without(without(space_bytes(), "prefix_keys"), "prefix_values").open(kTarget);
  CHECK(bare.config().mask_prefix == 0);
  CHECK(bare.notes().size() == 1);  // config.json says 3 positions
}

TEST_CASE("head file: SPACE's masks for another target, or damaged, are refused by the tensor") {
  TargetShape other = kTarget;
  other.hidden = 32;
  CHECK(has(
      refused(space_bytes(), ErrorCode::kInvalidArgument, other),
      "head: mask_embeddings: expected [2, 32] for the target, found [2, 16]; it was trained for "
      "another target"));
  other = kTarget;
  other.layers = 9;
  CHECK(has(refused(space_bytes(), ErrorCode::kInvalidArgument, other),
            "head: prefix_keys: expected [9, 1, 3, 8] for the target, found [8, 1, 3, 8]"));
  other = kTarget;
  other.kv_heads = 2;
  CHECK(has(refused(space_bytes(), ErrorCode::kInvalidArgument, other),
            "expected [8, 2, 3, 8] for the target"));
  HeadBytes said = space_bytes();
  said.config = R"({"vocab_size": 65})";
  CHECK(has(refused(said, ErrorCode::kInvalidArgument),
            "config.json: vocab_size: expected 64, found 65"));
  CHECK(has(refused(changed(space_bytes(), "prefix_values", {8, 1, 4, 8}), ErrorCode::kCorruption),
            "head: prefix_values: expected [8, 1, 3, 8] by the head's other tensors"));
  CHECK(has(refused(without(space_bytes(), "prefix_keys"), ErrorCode::kCorruption), "prefix_keys"));
  CHECK(has(refused(changed(space_bytes(), "prefix_bias", {1}), ErrorCode::kNotSupported),
            "SPACE masks with a tensor 'prefix_bias' [1], which triescope does not know"));
  CHECK(has(refused(changed(space_bytes(), "mask_embeddings", {65, 16}), ErrorCode::kCorruption),
            "expected masks from 1 to 64, found 65"));
}

TEST_CASE(
    "head file: a model opens as SPACE's masks only where its config.json names rows of its embedding") {
  HeadBytes model = space_model_bytes(R"({"space_mask_ids": [62, 63]})");
  const HeadFile file = model.open(kTarget);
  CHECK(file.kind() == HeadKind::kSpace);
  CHECK(file.config().mask_rows == std::vector<std::int64_t>{62, 63});
  CHECK(file.names() == std::vector<std::string>{"embed_tokens.weight"});
  CHECK(file.notes().empty());
  CHECK(has(refused(space_model_bytes("{}"), ErrorCode::kNotSupported), "head: is a model"));
}

TEST_CASE("head file: a model and unknown tensors are not heads") {
  HeadBytes model;
  model.tensors["model.embed_tokens.weight"] = {{64, 16}};
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) add_layer(model, layer, 16, 16);
  CHECK(has(refused(model, ErrorCode::kNotSupported),
            "head: is a model; expected Medusa, Hydra, EAGLE or DFlash weights"));
  HeadBytes other;
  other.tensors["a"] = {{1}};
  CHECK(has(refused(other, ErrorCode::kNotSupported), "belong to no head that triescope knows"));
}

TEST_CASE("head file: the first tensor that is not the target's is named, with what to do") {
  TargetShape wide = kTarget;
  wide.hidden = 32;
  CHECK(
      refused(eagle_bytes(), ErrorCode::kInvalidArgument, wide) ==
      "head: fc.weight: expected [32, 64] for the target, found [16, 32]; it was trained for another target (hidden size 16, vocabulary 64), "
      "not for Tiny (32, 64): open that target, or another head");
  CHECK(has(refused(eagle3_bytes(), ErrorCode::kInvalidArgument, wide),
            "fc.weight: expected [32, 96] for the target, found [16, 48]"));
  CHECK(has(refused(medusa_bytes(), ErrorCode::kInvalidArgument, wide),
            "0.0.linear.weight: expected [32, 32] for the target, found [16, 16]"));
  CHECK(has(refused(hydra_bytes(), ErrorCode::kInvalidArgument, wide),
            "hydra_mlp.0.1.linear.weight: expected [32, 64] for the target, found [16, 32]"));
  TargetShape large = kTarget;
  large.vocab = 65;
  CHECK(has(refused(eagle_bytes(), ErrorCode::kInvalidArgument, large),
            "embed_tokens.weight: expected [65, 16] for the target, found [64, 16]"));
  CHECK(has(refused(eagle3_bytes(), ErrorCode::kInvalidArgument, large),
            "lm_head.weight: expected [65, 16] for the target, found [64, 16]"));
  CHECK(has(refused(medusa_bytes(), ErrorCode::kInvalidArgument, large),
            "0.1.weight: expected [65, 16] for the target"));
  CHECK(has(
      refused(without(eagle_bytes(), "embed_tokens.weight"), ErrorCode::kInvalidArgument, large),
      "config.json: vocab_size: expected 65, found 64"));
  HeadBytes named = eagle_bytes();
  named.config = with_config(R"("base_model_name_or_path": "a/b")");
  CHECK(has(refused(named, ErrorCode::kInvalidArgument, wide),
            "it was trained for a/b (hidden size 16"));
}

TEST_CASE(
    "head file: EAGLE-3 wider than its target needs an embedding and an output head of its own") {
  HeadBytes head{{}, kHeadConfig, ""};
  head.tensors["fc.weight"] = {{24, 48}};
  head.tensors["midlayer.input_layernorm.weight"] = {{24}};
  head.tensors["midlayer.hidden_norm.weight"] = {{24}};
  add_layer(head, "midlayer.", 24, 48);
  head.tensors["norm.weight"] = {{24}};
  head.tensors["lm_head.weight"] = {{64, 24}};
  CHECK(has(refused(head, ErrorCode::kInvalidArgument),
            "fc.weight: expected [16, 48] for the target, found [24, 48]"));
  head.tensors["embed_tokens.weight"] = {{64, 24}};
  CHECK(head.open(kTarget).config().hidden == 24);
  CHECK(head.open(kTarget).config().target_hidden == 16);
}

TEST_CASE("head file: a head's tensors in F64 are rounded to F32, and a note says so") {
  HeadBytes head = changed(eagle3_bytes(), "norm.weight", {16}, "F64");
  std::vector<float> expected;
  for (int i = 0; i < 16; ++i) {
    head.tensors["norm.weight"].values += bytes_of(i + 0.1);
    expected.push_back(static_cast<float>(i + 0.1));
  }
  const HeadFile file = head.open(kTarget);
  CHECK(file.type("norm.weight") == ElementType::kF32);
  const HeadTensor norm = file.tensor("norm.weight");
  CHECK(norm.type == ElementType::kF32);
  CHECK(norm.bytes.size() == 16 * sizeof(float));
  CHECK(norm.floats() == expected);
  REQUIRE(file.notes().size() == 1);
  CHECK(file.notes()[0] == "tensors in F64 (norm.weight) are rounded to F32");
  CHECK(head.open(kTarget).parameters() == eagle3_bytes().open(kTarget).parameters());
  CHECK(eagle3_bytes().open(kTarget).notes().empty());
}

TEST_CASE("head file: a tensor that is missing, misshapen, of another type or unknown is named") {
  CHECK(has(refused(without(eagle3_bytes(), "norm.weight"), ErrorCode::kCorruption),
            "head: expected a tensor norm.weight, found none"));
  CHECK(has(refused(changed(eagle3_bytes(), "midlayer.mlp.up_proj.weight", {24, 17}),
                    ErrorCode::kCorruption),
            "midlayer.mlp.up_proj.weight: expected [24, 16] by the head's other tensors"));
  CHECK(has(refused(changed(eagle3_bytes(), "norm.weight", {16, 1}), ErrorCode::kCorruption),
            "norm.weight: expected [16] by"));
  CHECK(has(refused(changed(eagle3_bytes(), "norm.weight", {16}, "I64"), ErrorCode::kNotSupported),
            "norm.weight: expected F64, F32, F16 or BF16, found I64"));
  CHECK(has(refused(changed(eagle3_bytes(), "extra.weight", {3}), ErrorCode::kNotSupported),
            "an EAGLE-3 head with a tensor 'extra.weight' [3], which triescope does not know"));
  CHECK(has(refused(changed(eagle3_bytes(), "fc.weight", {16}), ErrorCode::kCorruption),
            "fc.weight: expected 2 dimensions"));
  CHECK(has(refused(changed(medusa_bytes(), "1.1.weight", {63, 16}), ErrorCode::kCorruption),
            "1.1.weight: expected [64, 16]"));
  CHECK(has(refused(without(medusa_bytes(), "1.0.linear.bias"), ErrorCode::kCorruption),
            "expected a tensor 1.0.linear.bias"));
  CHECK(has(refused(changed(eagle_bytes(), "model.fc.weight", {16, 32}), ErrorCode::kCorruption),
            "expected one tensor 'fc.weight', found two"));
  HeadBytes heads = eagle_bytes();
  heads.config = R"({"num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 8})";
  CHECK(has(refused(heads, ErrorCode::kCorruption),
            "layers.0.self_attn.q_proj.weight: expected [32, 16] by the head's other tensors"));
}

TEST_CASE(
    "head file: EAGLE heads with norms of their own are refused by name; norms of ones are not") {
  for (const char* name : {"embedding_layernorm.weight", "hidden_states_layernorm.weight",
                           "pre_lm_head_layernorm.weight"})
    CHECK(has(refused(changed(eagle_bytes(), name, {16}), ErrorCode::kNotSupported),
              std::string("layer norms of its own (") + name));
  HeadBytes trained = changed(eagle_bytes(), "layers.0.input_layernorm.weight", {16});
  CHECK(
      has(refused(trained, ErrorCode::kNotSupported), "a trained layers.0.input_layernorm.weight"));
  std::string ones;
  for (int i = 0; i < 16; ++i) ones += bytes_of<std::uint16_t>(0x3c00);
  trained.tensors["layers.0.input_layernorm.weight"].values = ones;
  CHECK_FALSE(trained.open(kTarget).has("layers.0.input_layernorm.weight"));
  HeadBytes two = eagle_bytes();
  add_layer(two, "layers.1.", 16, 16);
  CHECK(has(refused(two, ErrorCode::kNotSupported), "an EAGLE head with 2 layers"));
}

TEST_CASE("head file: a draft vocabulary must fit its output head, its mask and the target") {
  HeadBytes head = eagle3_bytes();
  head.tensors["lm_head.weight"] = {{3, 16}};
  head.tensors["d2t"] = {{3}, "I64", i64({0, 5, 60})};
  CHECK(head.open(kTarget).config().draft_vocab == 3);
  CHECK(head.open(kTarget).config().vocab == 64);
  CHECK(head.open(kTarget).tensor("d2t").integers() == std::vector<std::int64_t>{0, 5, 60});
  head.tensors["d2t"].values = i64({0, 5, 62});
  CHECK(has(refused(head, ErrorCode::kCorruption),
            "d2t[2]: expected an offset that leads to a token of 0 to 63, found 62"));
  head.tensors["d2t"] = {{4}, "I64", ""};
  CHECK(has(refused(head, ErrorCode::kCorruption), "lm_head.weight: expected [4, 16]"));
  head.tensors["d2t"] = {{3}, "I64", i64({0, 5, 60})};
  head.tensors["t2d"] = {{64}, "BOOL", std::string(64, '\1')};
  CHECK(head.open(kTarget).has("t2d"));
  head.tensors["t2d"].values[6] = '\0';
  CHECK(has(refused(head, ErrorCode::kCorruption),
            "d2t[1]: expected a token that t2d allows, found token 6"));
  head.tensors["t2d"] = {{64}, "F16"};
  CHECK(has(refused(head, ErrorCode::kNotSupported), "t2d: expected BOOL, found F16"));
  // vLLM's map beside an output head with all rows has no use.
  HeadBytes vllm = changed(eagle_bytes(), "lm_head.weight", {64, 16});
  vllm.tensors["token_map"] = {{3}, "I64", i64({0, 6, 62})};
  const HeadFile opened = vllm.open(kTarget);
  CHECK_FALSE(opened.has("d2t"));
  CHECK(opened.config().draft_vocab == 64);
  CHECK(opened.notes() == std::vector<std::string>{
                              "token_map is not needed: the output head has the whole vocabulary"});
  vllm.tensors["lm_head.weight"] = {{3, 16}};
  CHECK(vllm.open(kTarget).tensor("d2t").integers() == std::vector<std::int64_t>{0, 5, 60});
}

TEST_CASE("head file: layers are set for EAGLE-3 alone, as many as fc reads") {
  CHECK(eagle3_bytes().open(kTarget, {1, 2, 8}).config().feature_layers ==
        std::vector<int>{1, 2, 8});
  CHECK(eagle3_bytes().open(kTarget, {1, 2, 8}).config().layer_convention ==
        LayerConvention::kOverride);
  CHECK(has(refused(eagle3_bytes(), ErrorCode::kInvalidArgument, kTarget, {1, 2}),
            "head: layers: expected 3 layers from 0 to 8"));
  CHECK(has(refused(medusa_bytes(), ErrorCode::kInvalidArgument, kTarget, {1, 2, 3}),
            "expected an EAGLE-3 or DFlash head with fc.weight, found medusa"));
  // Four states, by the list.
  HeadBytes four = changed(eagle3_bytes(), "fc.weight", {16, 64});
  four.config = with_config(R"("eagle_aux_hidden_state_layer_ids": [2, 4, 6, 8])");
  CHECK(four.open(kTarget).config().feature_layers == std::vector<int>{2, 4, 6, 8});
  CHECK(four.open(kTarget).config().target_hidden == 16);
}

TEST_CASE(
    "head file: a list of layers of another length than fc reads, or with a negative id, is refused as such") {
  const auto listed = [](HeadBytes head, const std::string& list, const TargetShape& target) {
    head.config = with_config(R"("eagle_aux_hidden_state_layer_ids": )" + list);
    return refused(head, ErrorCode::kCorruption, target);
  };
  TargetShape unknown;
  for (const TargetShape& target : {kTarget, unknown}) {
    for (const char* list : {"[2]", "[2, 4]", "[2, 4, 6, 8]", "[2, 3, 4, 5, 6]"}) {
      CAPTURE(list);
      CHECK(has(listed(eagle3_bytes(), list, target), "layer_ids: expected 3 layers"));
    }
    const HeadBytes four = changed(eagle3_bytes(), "fc.weight", {16, 64});
    for (const char* list : {"[2, 4]", "[2, 4, 6]"})
      CHECK(has(listed(four, list, target), "layer_ids: expected 4 layers"));
    for (const char* list : {"[-1, 4, 6]", "[2, 4, -3]"})
      CHECK(has(listed(eagle3_bytes(), list, target),
                "eagle_aux_hidden_state_layer_ids: expected layers of the target, each 0 or more"));
  }
}

TEST_CASE(
    "head file: without a config.json the layer is one of the target's kind, and the user is told") {
  HeadBytes head = eagle_bytes();
  head.config = "";
  const HeadFile file = head.open(kTarget);
  CHECK(file.config().heads == 2);
  CHECK(file.config().kv_heads == 1);
  CHECK(file.config().head_dim == 8);
  CHECK(file.config().rope.theta == 77);
  CHECK(file.config().norm_eps == 1e-5f);
  REQUIRE(file.notes().size() == 1);
  CHECK(has(file.notes()[0], "config.json does not describe the layer"));
  TargetShape odd = kTarget;
  odd.head_dim = 5;
  odd.heads = 7;
  CHECK(has(refused(head, ErrorCode::kCorruption, odd),
            "num_attention_heads that divides the 16 rows of layers.0.self_attn.q_proj.weight"));
  TargetShape bare = kTarget;
  bare.rope = {};
  CHECK(has(head.open(bare).notes()[0], "theta 10000 is used"));
  CHECK(head.open(bare).config().rope.dims == 8);
}

TEST_CASE("head file: settings that are not known, or that the weights contradict, are reported") {
  HeadBytes head = eagle3_bytes();
  head.config = with_config(
      R"("strange": 3, "off": false, "none": null, "draft_vocab_size": 32, "num_hidden_layers": 4, "norm_before_fc": true,
                               "sliding_window": 8, "use_sliding_window": true, "eagle_config": {"odd": "x"})");
  CHECK(
      head.open(kTarget).notes() ==
      std::vector<std::string>{
          "config.json asks for a sliding window; the head sees the whole text",
          "config.json says num_hidden_layers 4, the file holds 1 layers: the file's are used",
          "config.json says draft_vocab_size 32, the file holds 64 draft tokens: the file's are used",
          "config.json says norm_before_fc true, but its weights are missing: it has no effect",
          "config.json: 'strange' is not known and has no effect",
          "config.json: 'odd' is not known and has no effect"});
  head.config = with_config(R"("rope_scaling": {"type": null, "factor": 4.0})");
  REQUIRE(head.open(kTarget).notes().size() == 1);
  CHECK(has(head.open(kTarget).notes()[0], "have a factor of 4.0 and no rope_type"));
  head.config = with_config(R"("draft_tree": "0;0,0;1")");
  CHECK(head.open(kTarget).notes().empty());
  CHECK(head.open(kTarget).config().draft_tree == "0;0,0;1");
  head.config = with_config(R"("hidden_act": "gelu")");
  CHECK(has(refused(head, ErrorCode::kNotSupported), "hidden_act 'gelu'"));
  head.config = "[]";
  CHECK(has(refused(head, ErrorCode::kCorruption), "head: config.json: expected a JSON object"));
}

TEST_CASE(
    "head file: norm_output is feedback for speculators and EAGLE-3.1, and nothing for SpecForge before") {
  HeadBytes head = eagle3_bytes();
  head.config = with_config(R"("norm_output": true)");
  CHECK_FALSE(head.open(kTarget).config().norm_output);
  head.config = with_config(R"("norm_output": true, "speculators_model_type": "eagle3")");
  CHECK(head.open(kTarget).config().norm_output);
  head.config = with_config(R"("norm_output": true)");
  for (const char* name : {"fc_norm.0.weight", "fc_norm.1.weight", "fc_norm.2.weight"})
    head.tensors[name] = {{16}};
  CHECK(head.open(kTarget).config().norm_output);
  CHECK(head.open(kTarget).config().fc_norm);
}

TEST_CASE("head file: a head can be looked at without its target") {
  const HeadFile head = eagle3_bytes().open();
  CHECK(head.config().feature_layers.empty());
  CHECK(head.config().layer_convention == LayerConvention::kAbsent);
  CHECK(head.expected_target().hidden == 16);
  CHECK(head.expected_target().vocab == 64);
  CHECK(head.expected_target().layers == 3);
  CHECK(
      has(head.describe(), "the states entering layers 2, L/2 and L-3 of a target with L layers"));
  HeadBytes listed = eagle3_bytes();
  listed.config = with_config(R"("eagle_aux_hidden_state_layer_ids": [2, 4, 6])");
  CHECK(listed.open().expected_target().layers == 6);
  CHECK(medusa_bytes().open().expected_target().layers == 0);
  const HeadFile hydra = HeadFile::open((head_fixtures() / "hydra").string(), TargetShape());
  CHECK(hydra.config().head_count == 4);
  CHECK(has(hydra.notes()[0], "the number of attention heads is not known"));
  CHECK(medusa_bytes().open().expected_target().vocab == 64);
}

TEST_CASE("head file: what is asked of a tensor must be there and of its type") {
  HeadBytes bytes_of_head = eagle_bytes();  // the head reads from them
  const HeadFile head = bytes_of_head.open(kTarget);
  CHECK(has(refusal(ErrorCode::kNotFound, [&] { head.tensor("fc.bias"); }),
            "head: expected a tensor fc.bias, found none"));
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { head.tensor("fc.weight").integers(); }),
            "expected integers"));
  HeadTensor flags{"x", ElementType::kBool, {3}, {}, 0, {}};
  const std::string bytes("\0\1\2", 3);
  flags.bytes = std::as_bytes(std::span(bytes));
  CHECK(flags.integers() == std::vector<std::int64_t>{0, 1, 1});
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { flags.floats(); }),
            "x: expected floating point"));
}

TEST_CASE("head file: heads are told from models by path") {
  for (const char* name : {"eagle", "eagle3", "eagle3-no-fc", "medusa", "medusa-2", "medusa-vllm",
                           "hydra", "hydra-mlp"})
    CHECK(is_draft_head((head_fixtures() / name).string()));
  CHECK(is_draft_head((head_fixtures() / "medusa" / "medusa_lm_head.pt").string()));
  CHECK_FALSE(is_draft_head((head_fixtures() / "target").string()));
  CHECK_FALSE(is_draft_head(head_fixtures().string()));
  CHECK_FALSE(is_draft_head((head_fixtures() / "README.md").string()));
  CHECK_FALSE(is_draft_head("/nowhere/x.bin"));
}

TEST_CASE(
    "head file: a single file takes the config.json beside it; folders without weights and other files are refused") {
  const HeadFile head =
      HeadFile::open((head_fixtures() / "eagle" / "pytorch_model.bin").string(), tiny_target());
  CHECK(head.config().context == 2048);
  CHECK(head.kind() == HeadKind::kEagle);
  const TempDir folder;
  CHECK(has(refusal(ErrorCode::kNotFound, [&] { HeadFile::open(folder.path().string(), kTarget); }),
            "expected a draft head (model.safetensors"));
  write_file(folder.path() / "any.txt", "");
  CHECK(has(refusal(ErrorCode::kNotFound,
                    [&] { HeadFile::open((folder.path() / "any.txt").string(), kTarget); }),
            "a folder, or a .safetensors, .bin or .pt file"));
  // The one file that may be it, whatever its name.
  HeadBytes bytes = medusa_bytes();
  bytes.stored();
  write_file(folder.path() / "mine.safetensors", bytes.file);
  CHECK(HeadFile::open(folder.path().string(), kTarget).kind() == HeadKind::kMedusa);
  write_file(folder.path() / "second.safetensors", bytes.file);
  CHECK(refusal(ErrorCode::kNotFound, [&] {
          HeadFile::open(folder.path().string(), kTarget);
        }).find("found none") != std::string::npos);
  write_file(folder.path() / "pytorch_model.bin.index.json",
             R"({"weight_map": {"a": "../x.bin"}})");
  CHECK(
      has(refusal(ErrorCode::kCorruption, [&] { HeadFile::open(folder.path().string(), kTarget); }),
          "found '../x.bin'"));
}

TEST_CASE("head file: too many heads or layers are refused before they are made") {
  HeadBytes many = medusa_bytes();
  many.tensors["99.0.linear.weight"] = {{16, 16}};
  CHECK(has(refused(many, ErrorCode::kNotSupported), "expected at most 64 heads, found 100"));
  HeadBytes deep = medusa_bytes();
  deep.tensors["0.90.weight"] = {{64, 16}};
  CHECK(has(refused(deep, ErrorCode::kNotSupported),
            "expected at most 64 layers per head, found 90"));
  HeadBytes hydra = hydra_bytes();
  hydra.config = R"({"hydra_num_layers": 1000000})";
  CHECK(has(refused(hydra, ErrorCode::kNotSupported), "expected at most 64 layers per head"));
}

}  // namespace test_head_file

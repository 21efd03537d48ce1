// Every published form of a draft head, by a small one of the same names, shapes and files.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/unit/files/head_fixtures.h"

namespace test_head_fixtures {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

using Shape = std::vector<std::int64_t>;
using Ints = std::vector<int>;

Shape shape_of(const HeadFile& head, const std::string& name) { return head.tensor(name).shape; }

// First and last value.
std::pair<float, float> ends_of(const HeadFile& head, const std::string& name) {
  const HeadTensor tensor = head.tensor(name);
  const std::vector<float> values = tensor.floats();
  REQUIRE(static_cast<std::int64_t>(values.size()) == tensor.elements());
  return {values.front(), values.back()};
}

}  // namespace

TEST_CASE("head fixtures: EAGLE-1 as published for Vicuna opens from its pickle") {
  const HeadFile head = tiny_head("eagle");
  const HeadConfig& config = head.config();
  CHECK(head.kind() == HeadKind::kEagle);
  CHECK(config.hidden == 16);
  CHECK(config.target_hidden == 16);
  CHECK(config.vocab == 64);
  CHECK(config.draft_vocab == 64);
  CHECK(config.layers == 1);
  CHECK(config.intermediate == 40);
  CHECK(config.heads == 2);
  CHECK(config.kv_heads == 2);
  CHECK(config.head_dim == 8);
  CHECK(config.context == 2048);
  CHECK(config.rope.kind == RopeKind::kDefault);
  CHECK(config.rope.theta == 10000);
  CHECK(config.rope.dims == 8);
  CHECK(config.norm_eps == 1e-6f);
  CHECK(config.fc_bias);
  CHECK_FALSE(config.attention_bias);
  CHECK_FALSE(config.attention_output_bias);
  CHECK_FALSE(config.mlp_bias);
  CHECK_FALSE(config.qk_norm);
  CHECK(config.own_embedding);
  CHECK_FALSE(config.own_lm_head);
  CHECK(config.logit_scale == 1);
  CHECK(config.feature_layers == Ints{-1});
  CHECK(config.layer_convention == LayerConvention::kNone);
  CHECK(head.notes().empty());
  CHECK(head.names() ==
        std::vector<std::string>{
            "embed_tokens.weight", "fc.bias", "fc.weight", "layers.0.mlp.down_proj.weight",
            "layers.0.mlp.gate_proj.weight", "layers.0.mlp.up_proj.weight",
            "layers.0.post_attention_layernorm.weight", "layers.0.self_attn.k_proj.weight",
            "layers.0.self_attn.o_proj.weight", "layers.0.self_attn.q_proj.weight",
            "layers.0.self_attn.v_proj.weight"});
  CHECK(shape_of(head, "fc.weight") == Shape{16, 32});
  CHECK(shape_of(head, "layers.0.mlp.down_proj.weight") == Shape{16, 40});
  CHECK(head.parameters() == 64 * 16 + 16 * 32 + 16 + 4 * 16 * 16 + 3 * 40 * 16 + 16);
  CHECK(head.file_bytes() == 22568);
}

TEST_CASE("EAGLE-1 for Llama 3: no bias, grouped keys, its rope, no embedding") {
  const HeadFile head = tiny_head("eagle-no-bias");
  CHECK(head.kind() == HeadKind::kEagle);
  CHECK_FALSE(head.config().fc_bias);
  CHECK_FALSE(head.has("fc.bias"));
  CHECK(head.config().kv_heads == 1);
  CHECK(head.config().rope.theta == 500000);
  CHECK(head.config().norm_eps == 1e-5f);
  CHECK_FALSE(head.config().own_embedding);
  CHECK(head.config().vocab == 64);  // of config.json
  CHECK(head.tensor("fc.weight").type == ElementType::kBf16);
}

TEST_CASE("head fixtures: EAGLE-1 for Qwen 2 has biases of q, k and v") {
  const HeadFile head = tiny_head("eagle-qwen2");
  CHECK(head.config().attention_bias);
  CHECK_FALSE(head.config().attention_output_bias);
  CHECK_FALSE(head.config().fc_bias);
  CHECK(head.config().rope.theta == 1e6);
  CHECK(shape_of(head, "layers.0.self_attn.k_proj.bias") == Shape{8});
}

TEST_CASE(
    "vLLM's first EAGLE form: nested configuration, own output head, norms of ones left out") {
  const HeadFile head = tiny_head("eagle-vllm");
  CHECK(head.kind() == HeadKind::kEagle);
  CHECK(head.config().intermediate == 40);
  CHECK(head.config().heads == 2);
  CHECK(head.config().context == 2048);
  CHECK(head.config().own_lm_head);
  CHECK(head.config().own_embedding);
  CHECK(shape_of(head, "lm_head.weight") == Shape{64, 16});
  CHECK_FALSE(head.has("norm.weight"));
  CHECK_FALSE(head.has("layers.0.input_layernorm.weight"));
  CHECK(head.notes() ==
        std::vector<std::string>{
            "layers.0.input_layernorm.weight holds ones and is not part of EAGLE: it is left out",
            "norm.weight holds ones and is not part of EAGLE: it is left out"});
}

TEST_CASE("head fixtures: speculators' eagle is EAGLE-1 under other names") {
  const HeadFile head = tiny_head("eagle-speculators");
  CHECK(head.kind() == HeadKind::kEagle);
  CHECK(head.config().rope.theta == 500000);
  CHECK(head.config().trained_for == "tiny/target");
  CHECK(shape_of(head, "fc.weight") == Shape{16, 32});
  CHECK(shape_of(head, "layers.0.self_attn.q_proj.weight") == Shape{16, 16});
  CHECK(head.notes().empty());
}

TEST_CASE("EAGLE-3 as published: half precision, a draft vocabulary, EAGLE's own layers") {
  const HeadFile head = tiny_head("eagle3");
  const HeadConfig& config = head.config();
  CHECK(head.kind() == HeadKind::kEagle3);
  CHECK(config.hidden == 16);
  CHECK(config.target_hidden == 16);
  CHECK(config.vocab == 64);
  CHECK(config.draft_vocab == 24);
  CHECK(config.layers == 1);
  CHECK(config.heads == 2);
  CHECK(config.kv_heads == 1);
  CHECK(config.head_dim == 8);
  CHECK(config.norm_eps == 1e-5f);
  CHECK(config.has_fc);
  CHECK_FALSE(config.fc_bias);
  CHECK_FALSE(config.norm_before_residual);
  CHECK_FALSE(config.norm_before_fc);
  CHECK_FALSE(config.fc_norm);
  CHECK_FALSE(config.norm_output);
  CHECK_FALSE(config.own_embedding);
  CHECK(config.own_lm_head);
  CHECK(config.feature_layers == Ints{2, 4, 5});
  CHECK(config.layer_convention == LayerConvention::kAbsent);
  CHECK(config.stored_layers.empty());
  CHECK(shape_of(head, "fc.weight") == Shape{16, 48});
  CHECK(shape_of(head, "midlayer.self_attn.q_proj.weight") == Shape{16, 32});
  CHECK(head.tensor("fc.weight").type == ElementType::kF16);
  const HeadTensor d2t = head.tensor("d2t"), t2d = head.tensor("t2d");
  CHECK(d2t.type == ElementType::kI64);
  CHECK(t2d.type == ElementType::kBool);
  const std::vector<std::int64_t> offsets = d2t.integers(), allowed = t2d.integers();
  REQUIRE(offsets.size() == 24);
  REQUIRE(allowed.size() == 64);
  std::vector<std::int64_t> mask(64, 0);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    mask[i + static_cast<std::size_t>(offsets[i])] = 1;
  CHECK(mask == allowed);
  CHECK(head.names().size() == 15);
  CHECK(head.notes().empty());
}

TEST_CASE("head fixtures: EAGLE-3 without a map drafts from the whole vocabulary") {
  const HeadFile head = tiny_head("eagle3-full-vocabulary");
  CHECK(head.config().draft_vocab == 64);
  CHECK(head.config().own_lm_head);
  CHECK_FALSE(head.has("d2t"));
  CHECK_FALSE(head.has("t2d"));
}

TEST_CASE("head fixtures: SpecForge counts outputs, and its norm_output changes nothing") {
  const HeadFile head = tiny_head("eagle3-specforge");
  CHECK(head.config().feature_layers == Ints{2, 4, 5});
  CHECK(head.config().stored_layers == Ints{1, 3, 4});
  CHECK(head.config().layer_convention == LayerConvention::kOutput);
  CHECK(head.config().layers_from == "config.json: eagle_config.eagle_aux_hidden_state_layer_ids");
  CHECK_FALSE(head.config().norm_output);
  CHECK(head.config().own_embedding);
  CHECK(head.config().draft_vocab == 64);
  REQUIRE(head.notes().size() == 1);
  CHECK(head.notes()[0].find("norm_output") != std::string::npos);
}

TEST_CASE("speculators' EAGLE-3: the layer's settings nested, norm_before_residual, llama3 rope") {
  const HeadFile head = tiny_head("eagle3-norm-before-residual");
  const HeadConfig& config = head.config();
  CHECK(config.norm_before_residual);
  CHECK_FALSE(config.norm_output);
  CHECK(config.rope.kind == RopeKind::kLlama3);
  CHECK(config.rope.factor == 4);
  CHECK(config.rope.original_context == 32);
  CHECK(config.rope.theta == 500000);
  CHECK(config.own_embedding);
  CHECK(config.trained_for == "tiny/target");
  CHECK(config.layer_convention == LayerConvention::kAbsent);
  CHECK(config.feature_layers == Ints{2, 4, 5});
  CHECK(shape_of(head, "midlayer.hidden_norm.weight") == Shape{16});
  CHECK(head.notes().empty());
}

TEST_CASE(
    "head fixtures: norm_before_fc has one norm over the three states; ids that do not begin with 1 count what enters") {
  const HeadFile head = tiny_head("eagle3-norm-before-fc");
  CHECK(head.config().norm_before_fc);
  CHECK(head.config().norm_before_residual);
  CHECK_FALSE(head.config().fc_norm);
  CHECK(head.config().feature_layers == Ints{3, 4, 8});
  CHECK(head.config().layer_convention == LayerConvention::kEntering);
  CHECK(shape_of(head, "input_norm.weight") == Shape{48});
  CHECK(head.notes().empty());
}

TEST_CASE("head fixtures: EAGLE-3.1 has a norm for each state and feeds the normed output back") {
  const HeadFile head = tiny_head("eagle3-fc-norm");
  CHECK(head.config().fc_norm);
  CHECK(head.config().norm_output);
  CHECK_FALSE(head.config().norm_before_fc);
  CHECK(shape_of(head, "fc_norm.2.weight") == Shape{16});
  CHECK(head.notes().empty());
}

TEST_CASE("head fixtures: further layers of EAGLE-3 have the head's own width") {
  const HeadFile head = tiny_head("eagle3-two-layers");
  CHECK(head.config().layers == 2);
  CHECK(shape_of(head, "layers.1.self_attn.q_proj.weight") == Shape{16, 16});
  CHECK(shape_of(head, "layers.1.input_layernorm.weight") == Shape{16});
  CHECK(head.tensor("fc.weight").type == ElementType::kF32);
}

TEST_CASE("Qwen 3 heads: wide heads, norms of q and k, biases, the target's output head") {
  const HeadFile head = tiny_head("eagle3-qwen3");
  const HeadConfig& config = head.config();
  CHECK(config.head_dim == 12);
  CHECK(config.heads == 2);
  CHECK(config.kv_heads == 1);
  CHECK(config.rope.dims == 12);
  CHECK(config.qk_norm);
  CHECK(config.attention_bias);
  CHECK(config.attention_output_bias);
  CHECK_FALSE(config.own_lm_head);
  CHECK(config.draft_vocab == 64);
  CHECK(config.logit_scale == 0.5);
  CHECK(shape_of(head, "midlayer.self_attn.o_proj.weight") == Shape{16, 24});
  CHECK(head.notes().empty());
}

TEST_CASE(
    "head fixtures: a head may be wider than its target, with an embedding of its own; names may have model. in front") {
  const HeadFile head = tiny_head("eagle3-wide");
  CHECK(head.config().hidden == 24);
  CHECK(head.config().target_hidden == 16);
  CHECK(head.config().head_dim == 12);
  CHECK(shape_of(head, "fc.weight") == Shape{24, 48});
  CHECK(shape_of(head, "embed_tokens.weight") == Shape{64, 24});
  CHECK(shape_of(head, "lm_head.weight") == Shape{24, 24});
  CHECK_FALSE(head.has("t2d"));
}

TEST_CASE("head fixtures: EAGLE-3 without fc reads the final norm's output") {
  const HeadFile head = tiny_head("eagle3-no-fc");
  CHECK_FALSE(head.config().has_fc);
  CHECK_FALSE(head.has("fc.weight"));
  CHECK(head.config().feature_layers == Ints{-1});
  CHECK(head.config().layer_convention == LayerConvention::kNone);
}

TEST_CASE("Medusa-1: the number of heads is the file's, not the configuration's") {
  const HeadFile head = tiny_head("medusa");
  const HeadConfig& config = head.config();
  CHECK(head.kind() == HeadKind::kMedusa);
  CHECK(config.head_count == 5);
  CHECK(config.head_layers == 1);
  CHECK(config.hidden == 16);
  CHECK(config.vocab == 64);
  CHECK(config.fc_bias);
  CHECK(config.own_lm_head);
  CHECK(config.feature_layers == Ints{-1});
  CHECK(config.layers == 0);
  CHECK(config.trained_for == "tiny/target");
  CHECK(shape_of(head, "4.0.linear.weight") == Shape{16, 16});
  CHECK(shape_of(head, "4.1.weight") == Shape{64, 16});
  CHECK(head.notes() ==
        std::vector<std::string>{
            "config.json says medusa_num_heads 2, the file holds 5 heads: the file's are used"});
}

TEST_CASE("head fixtures: two layers of Medusa are one block under two names") {
  const HeadFile head = tiny_head("medusa-two-layers");
  CHECK(head.config().head_count == 3);
  CHECK(head.config().head_layers == 2);
  CHECK(head.tensor("2.0.linear.weight").source == head.tensor("2.1.linear.weight").source);
  CHECK(head.tensor("1.0.linear.weight").source != head.tensor("2.0.linear.weight").source);
  CHECK(head.parameters() == 3 * (16 * 16 + 16 + 64 * 16));
}

TEST_CASE("head fixtures: Medusa's second version shares the target's output head") {
  const HeadFile head = tiny_head("medusa-v2");
  CHECK(head.config().head_count == 4);
  CHECK(head.config().head_layers == 1);
  CHECK_FALSE(head.config().own_lm_head);
  CHECK(head.config().vocab == 64);  // the target's
}

TEST_CASE("Medusa-2: the heads in the shards of a whole model") {
  const HeadFile head = tiny_head("medusa-2");
  CHECK(head.config().head_count == 3);
  CHECK(head.config().own_lm_head);
  CHECK(head.names().size() == 9);
  CHECK(shape_of(head, "2.1.weight") == Shape{64, 16});
}

TEST_CASE("vLLM's Medusa: blocks without bias, absolute ids made offsets") {
  const HeadFile head = tiny_head("medusa-vllm");
  CHECK(head.config().head_count == 3);
  CHECK(head.config().head_layers == 2);
  CHECK_FALSE(head.config().fc_bias);
  CHECK(head.config().vocab == 64);
  CHECK(head.config().draft_vocab == 24);
  CHECK(head.tensor("0.0.linear.weight").source != head.tensor("0.1.linear.weight").source);
  CHECK(shape_of(head, "0.2.weight") == Shape{24, 16});
  const std::vector<std::int64_t> offsets = head.tensor("d2t").integers();
  REQUIRE(offsets.size() == 24);
  CHECK(offsets[0] == 0);
  CHECK(offsets[23] == 40);  // token 63
}

TEST_CASE("head fixtures: vLLM's Medusa with one output head for all") {
  const HeadFile head = tiny_head("medusa-vllm-one-head");
  CHECK(head.config().head_count == 2);
  CHECK(head.config().fc_bias);
  CHECK(head.config().own_lm_head);
  CHECK(head.tensor("0.1.weight").source == head.tensor("1.1.weight").source);
  CHECK(shape_of(head, "1.1.weight") == Shape{64, 16});
}

TEST_CASE("head fixtures: Hydra behind a prefix layer; its layer is one of the target's") {
  const HeadFile head = tiny_head("hydra");
  const HeadConfig& config = head.config();
  CHECK(head.kind() == HeadKind::kHydra);
  CHECK(config.head_count == 4);
  CHECK(config.head_layers == 4);
  CHECK(config.prefix_layer);
  CHECK(config.layers == 1);
  CHECK(config.heads == 2);
  CHECK(config.kv_heads == 1);
  CHECK(config.head_dim == 8);
  CHECK(config.intermediate == 24);
  CHECK(config.norm_eps == 1e-5f);
  CHECK(config.rope.theta == 10000);
  CHECK(config.own_embedding);
  CHECK(config.own_lm_head);
  CHECK(config.lm_head_bias);
  CHECK(config.feature_layers == Ints{-1});
  CHECK(shape_of(head, "hydra_mlp.3.1.linear.weight") == Shape{16, 80});
  CHECK(head.tensor("hydra_mlp.0.3.linear.weight").source ==
        head.tensor("hydra_mlp.0.7.linear.weight").source);
  CHECK(shape_of(head, "hydra_lm_head.3.1.bias") == Shape{64});
  CHECK_FALSE(head.has("prefix_embeding_layer.embed_tokens.weight"));
  CHECK(head.notes().empty());
}

TEST_CASE("plain Hydra: blocks without dropouts, a state below the last layers") {
  const HeadFile head = tiny_head("hydra-mlp");
  CHECK_FALSE(head.config().prefix_layer);
  CHECK(head.config().layers == 0);
  CHECK(head.config().head_count == 3);
  CHECK(head.config().head_layers == 2);
  CHECK(head.config().feature_layers == Ints{6});
  CHECK(shape_of(head, "hydra_mlp.2.1.res_connection.weight") == Shape{16, 64});
  CHECK(shape_of(head, "hydra_mlp.2.3.linear.weight") == Shape{16, 16});
  CHECK(shape_of(head, "hydra_lm_head.2.1.weight") == Shape{64, 16});
}

TEST_CASE(
    "head fixtures: Hydra that shares the target's embedding and output head; a block stored once stands for all") {
  const HeadFile head = tiny_head("hydra-shared-head");
  CHECK_FALSE(head.config().own_embedding);
  CHECK_FALSE(head.config().own_lm_head);
  CHECK_FALSE(head.config().lm_head_bias);
  CHECK(head.config().head_count == 3);
  CHECK(head.config().head_layers == 3);
  CHECK(head.tensor("hydra_mlp.1.3.linear.weight").source ==
        head.tensor("hydra_mlp.1.5.linear.weight").source);
  CHECK(head.config().vocab == 64);
}

TEST_CASE(
    "head fixtures: values are the file's, from safetensors and pickles, whole and in shards") {
  using Ends = std::pair<float, float>;
  CHECK(ends_of(tiny_head("eagle3-two-layers"), "fc.weight") ==
        Ends(-0.4160907566547394f, -0.3412710726261139f));
  CHECK(ends_of(tiny_head("eagle3"), "lm_head.weight") == Ends(-0.481689453125f, 0.269287109375f));
  CHECK(ends_of(tiny_head("medusa"), "3.1.weight") == Ends(-0.416015625f, -0.046875f));
  CHECK(ends_of(tiny_head("medusa-2"), "2.0.linear.bias") == Ends(-0.16796875f, 0.1748046875f));
  CHECK(ends_of(tiny_head("eagle-speculators"), "layers.0.mlp.up_proj.weight") ==
        Ends(1.229124903678894f, 0.26542094349861145f));
  CHECK(ends_of(tiny_head("hydra-mlp"), "hydra_mlp.1.3.linear.bias") ==
        Ends(0.125f, 0.08837890625f));
}

TEST_CASE("head fixtures: a head says what it is") {
  CHECK(
      tiny_head("eagle").describe() ==
      "An EAGLE-1/2 head, reads the output of the target's final norm. Drafts from all 64 tokens with the target's output head and its own "
      "embedding. 4512 parameters, 22.6 kB. For a target with hidden size 16 and vocabulary 64.");
  CHECK(
      tiny_head("eagle3").describe() ==
      "An EAGLE-3 head of 1 layer, reads the states entering layers 2, 4, 5 (the file names none: EAGLE's own). Drafts from 24 of 64 tokens "
      "with its own output head and the target's embedding. 3648 parameters, 13.1 kB. For a target with hidden size 16 and vocabulary 64.");
  CHECK(tiny_head("eagle3-specforge")
            .describe()
            .find("entering layers 2, 4, 5 (the file counts outputs: 1, 3, 4)") !=
        std::string::npos);
  CHECK(
      tiny_head("medusa").describe() ==
      "5 Medusa heads of 1 layer, reads the output of the target's final norm. Drafts from all 64 tokens with output heads of its own. "
      "6480 parameters, 18.3 kB. For a target with hidden size 16 and vocabulary 64: tiny/target.");
  CHECK(tiny_head("hydra").describe().find("4 Hydra heads of 4 layers behind a prefix layer") == 0);
}

}  // namespace test_head_fixtures

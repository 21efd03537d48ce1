// Gemma 4's mixture of experts: what config.json and GGUF say of it, and where its weights lie.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/files/weight_names.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace triescope::test::test_gemma4_experts {

using namespace triescope::formats;

TEST_CASE("Gemma 4: experts stand beside each layer's MLP, which all rows share, with norms") {
  const std::string experts =
      R"("enable_moe_block":true,"num_experts":4,"top_k_experts":2,"moe_intermediate_size":24)";
  const ModelConfig config = config_of(
      "gemma4_text", experts + R"(,"num_kv_shared_layers":3,"use_double_wide_mlp":true)", 12);
  for (const LayerConfig& layer : config.layers) CHECK(layer.experts == 4);
  CHECK(config.experts.used == 2);
  CHECK(config.experts.normalise);
  CHECK(config.mlps_of(0) == 5);
  CHECK(config.intermediate_of(0, 3) == 24);
  CHECK(config.intermediate_of(0, 4) == 128);
  CHECK(config.intermediate_of(11, 4) == 256);
  const auto where = [&](Role role, int expert = -1) {
    const WeightSlice slice = locate(config, {role, 1, expert});
    return slice.tensor + "+" + std::to_string(slice.first_row) + (slice.stacked ? " stacked" : "");
  };
  const std::string layer = "model.layers.1.";
  CHECK(where(Role::kGate, 2) == layer + "experts.gate_up_proj+96 stacked");
  CHECK(where(Role::kUp, 2) == layer + "experts.gate_up_proj+120 stacked");
  CHECK(where(Role::kDown, 2) == layer + "experts.down_proj+128 stacked");
  CHECK(where(Role::kGate, 4) == layer + "mlp.gate_proj.weight+0");
  CHECK(where(Role::kDown, 4) == layer + "mlp.down_proj.weight+0");
  CHECK(where(Role::kMlpNorm) == layer + "pre_feedforward_layernorm.weight+0");
  CHECK(where(Role::kRouter) == layer + "router.proj.weight+0");
  for (const auto& [role, name, rows] : std::vector<std::tuple<Role, std::string, int>>{
           {Role::kRouterScale, "router.scale", 64},
           {Role::kExpertScale, "router.per_expert_scale", 4},
           {Role::kExpertsNorm, "pre_feedforward_layernorm_2.weight", 64},
           {Role::kPostExpertsNorm, "post_feedforward_layernorm_2.weight", 64},
           {Role::kPostSharedNorm, "post_feedforward_layernorm_1.weight", 64}}) {
    CHECK(where(role) == layer + name + "+0");
    CHECK(expected_shape(config, {role, 1}) == WeightShape{rows, 1});
    CHECK(!expected_shape(config_of("gemma4_text"), {role, 1}));
  }
  for (const char* key : {"num_experts", "top_k_experts", "moe_intermediate_size"}) {
    std::string without = experts;
    without.replace(without.find(key), 3, "xyz");
    CHECK(has(refused(ErrorCode::kCorruption, "gemma4_text", without), key));
  }
}

TEST_CASE("GGUF: Gemma 4's experts lie in one tensor for gate and up, or in two") {
  for (const bool fused : {true, false}) {
    CAPTURE(fused);
    GgufWriter writer = gguf_of("gemma4", 2);
    writer.add("gemma4.expert_count", std::uint32_t{4});
    writer.add("gemma4.expert_used_count", std::uint32_t{2});
    writer.add("gemma4.expert_feed_forward_length", std::uint32_t{24});
    writer.add("gemma4.attention.key_length_swa", std::uint32_t{16});
    for (const char* block : {"blk.0.", "blk.1."}) {
      writer.add_f32(std::string(block) + "ffn_gate_inp.weight", {1}, {0});
      if (fused) writer.add_f32(std::string(block) + "ffn_gate_up_exps.weight", {1}, {0});
    }
    const ModelConfig config = config_of(writer);
    CHECK(config.layers[1].experts == 4);
    CHECK(config.experts.normalise);
    CHECK(config.intermediate_of(1, 4) == 64);
    const auto where = [&](Role role, int expert = -1) {
      const WeightSlice slice = locate(config, {role, 1, expert});
      return slice.tensor + "+" + std::to_string(slice.first_row);
    };
    CHECK(where(Role::kGate, 3) ==
          (fused ? "blk.1.ffn_gate_up_exps.weight+144" : "blk.1.ffn_gate_exps.weight+72"));
    CHECK(where(Role::kUp, 3) ==
          (fused ? "blk.1.ffn_gate_up_exps.weight+168" : "blk.1.ffn_up_exps.weight+72"));
    CHECK(where(Role::kDown, 3) == "blk.1.ffn_down_exps.weight+192");
    CHECK(where(Role::kUp, 4) == "blk.1.ffn_up.weight+0");
    CHECK(where(Role::kDown, 4) == "blk.1.ffn_down.weight+0");
    CHECK(where(Role::kRouterScale) == "blk.1.ffn_gate_inp.scale+0");
    CHECK(where(Role::kExpertScale) == "blk.1.ffn_down_exps.scale+0");
    CHECK(where(Role::kExpertsNorm) == "blk.1.pre_ffw_norm_2.weight+0");
    CHECK(where(Role::kPostExpertsNorm) == "blk.1.post_ffw_norm_2.weight+0");
    CHECK(where(Role::kPostSharedNorm) == "blk.1.post_ffw_norm_1.weight+0");
  }
}

}  // namespace triescope::test::test_gemma4_experts

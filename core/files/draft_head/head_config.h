// HeadConfig: what the forward of a draft head needs to know beside its weights, in one form for
// all published formats. Plain values; no torch. Source: the code of SafeAILab/EAGLE,
// FasterDecoding/Medusa, zankner/Hydra, sgl-project/SpecForge and vllm-project/speculators;
// docs/draft_heads.md says which files open and how they differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/config.h"

namespace triescope::formats {

enum class HeadKind : std::uint8_t {
  kMedusa,  // heads side by side on the final-normed state
  kHydra,   // the same, but each also reads the tokens that the heads before it drafted
  kEagle,   // EAGLE-1 and EAGLE-2: the same weights, one layer on (embedding, final-normed state)
  kEagle3,  // one or more layers on (embedding, three raw states of the residual stream)
  kSpace,   // mask vectors that the target itself runs in a token's place, perhaps with a prefix
  kMtp,     // a model's own layer for multi-token prediction on (embedding, state), both normed
  kDFlash,  // layers that fill a block of masks in one pass, on (several raw states)
};
const char* to_string(
    HeadKind kind);  // "medusa", "hydra", "eagle", "eagle3", "space", "mtp", "dflash"

// The model for which a head drafts. 0 (or empty): unknown, so nothing is compared with it.
struct TargetShape {
  std::string name;  // for messages
  int hidden = 0, vocab = 0, layers = 0;
  // Used where neither the head's shapes nor a config.json tell: Hydra's prefix layer is like the
  // target's layers, and a single file may come without a config.json.
  int heads = 0, kv_heads = 0, head_dim = 0;
  float norm_eps = 0;
  RopeConfig rope;  // dims 0: unknown
};
TargetShape target_shape(const ModelConfig& config);

// How a file counts the states that it reads; HeadConfig::stored_layers keeps the file's list.
enum class LayerConvention : std::uint8_t {
  kNone,      // the kind reads only the final norm's output
  kEntering,  // what enters layer i; i = L: what leaves the last (EAGLE, vLLM, speculators)
  kOutput,    // what leaves layer i (SpecForge, SGLang): one less for the same state
  kAbsent,    // the file says nothing: 2, L / 2, L - 3
  kOverride,  // the user's own list, entering
};
const char* to_string(LayerConvention convention);  // "none", "entering", "output", ...

struct HeadConfig {
  HeadKind kind = HeadKind::kEagle;

  // Sizes. Medusa: hidden = target_hidden.
  int hidden = 0;         // d: width of the head's own stream
  int target_hidden = 0;  // dt: width of one of the target's states
  int vocab = 0;          // V: the target's vocabulary
  int draft_vocab = 0;    // Vd: width of the logits; = vocab without a tensor "d2t"

  // The transformer layers of EAGLE, EAGLE-3, MTP and DFlash and Hydra's prefix layer; 0 = the head has none.
  int layers = 0;
  int intermediate = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int context = 0;  // max_position_embeddings; 0 = unknown
  RopeConfig rope;  // dims = head_dim
  float norm_eps = 1e-6f;

  bool fc_bias = false;                // "fc.bias"; Medusa: "{h}.{l}.linear.bias"
  bool attention_bias = false;         // q, k and v_proj.bias
  bool attention_output_bias = false;  // o_proj.bias
  bool mlp_bias = false;               // gate, up and down_proj.bias
  bool qk_norm = false;                // self_attn.{q,k}_norm.weight [head_dim]

  // EAGLE-3. h = fc(features), or the state that is fed back:
  bool has_fc = true;  // false: one state of width d enters as it is, and "fc.weight" is absent
  bool norm_before_residual = false;  // h1 = hidden_norm(h) + attention, else h + attention
  bool norm_before_fc = false;        // "input_norm.weight" [3 dt]: over the concatenated states
  bool fc_norm = false;               // "fc_norm.{0,1,2}.weight" [dt]: over each of them
  bool final_norm = true;             // false: the logits read out (HeadReading::no_final_norm)
  bool norm_output = false;           // norm(out) is fed back, else out; the logits read norm(out)
  double logit_scale = 1;             // multiplies the logits

  // Whether the file has these itself; false: the target's is read.
  bool own_embedding = false;  // "embed_tokens.weight" [V, d]; Hydra: "input_embed_fn.weight"
  bool own_lm_head = false;    // EAGLE: "lm_head.weight" [Vd, d]; Medusa, Hydra: one per head

  // The target's states that the head reads, in the order of fc's columns, numbered as in
  // ForwardBatch: i = what enters layer i, L = what leaves the last layer, -1 = output of the final
  // norm. Empty: they depend on the target's number of layers, which was not given. The same state
  // may be named twice (targets of few layers).
  std::vector<int> feature_layers;
  LayerConvention layer_convention = LayerConvention::kNone;
  std::vector<int> stored_layers;  // as in the file; empty: it has none
  std::string layers_from;         // "config.json: eagle_config.eagle_aux_hidden_state_layer_ids"

  std::string trained_for;  // the target's name according to config.json; "" = unknown
  // The head's own best static tree, best paths first, in the form of the setting "tree"
  // ("0;1;0,0"). "" = none. It is not checked here.
  std::string draft_tree;

  // Medusa and Hydra: head h drafts the token at t + 2 + h.
  int head_count = 0;
  int first_head = 0;   // HeadReading::first_head
  int head_layers = 0;  // residual blocks per head; Hydra: with the first one
  // Hydra: its arch. "prefix-mlp" (true) has the transformer layer before the heads, "mlp" does
  // not.
  bool prefix_layer = false;
  bool lm_head_bias = false;  // Hydra: "hydra_lm_head.{i}.1.bias"

  bool own_token = false;  // HeadReading::own_token

  // SPACE: mask j guesses the token at t + 1 + j from the text up to t.
  int mask_count = 0;
  int mask_prefix = 0;    // positions of the prefix that the masks alone see; 0 = none
  int prefix_layers = 0;  // of the target, whose kv_heads and head_dim the prefix has
  // Of a checkpoint whose embedding holds the masks: the row of each mask. Empty: "mask_embeddings".
  std::vector<std::int64_t> mask_rows;

  // MTP: a row at position t reads the state at t and the token at t + 1, as EAGLE's.
  bool hidden_first = false;       // fc's columns: (state, embedding), else (embedding, state)
  bool before_final_norm = false;  // the state that is read is what leaves the target's last layer
  bool blind_start = false;        // the row at position 0 reads zeros in place of an embedding
  int mtp_layers = 1;              // in the file, one for each depth; the first is used for all

  // DFlash: rows of a block, its first the newest token, all others the mask.
  int block_size = 0;
  std::int32_t mask_token = -1;

  // Whether a part of the head is a transformer: EAGLE's, MTP's and DFlash's layers, Hydra's prefix layer.
  bool has_layers() const {
    return kind == HeadKind::kHydra ? prefix_layer
                                    : kind != HeadKind::kMedusa && kind != HeadKind::kSpace;
  }
  // Whether a row reads several of the target's states, one after the other, through fc.
  bool reads_several() const {
    return (kind == HeadKind::kEagle3 && has_fc) || kind == HeadKind::kDFlash;
  }
};

}  // namespace triescope::formats

// ModelConfig: a decoder-only transformer, described so that one implementation runs every family.
// It is read from config.json (with generation_config.json) or from GGUF metadata. What a file asks
// for and triescope does not support is Error{kNotSupported} naming it. Plain values; no torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/generation_settings.h"
#include "core/files/gguf.h"

namespace triescope::formats {

enum class NormKind : std::uint8_t { kRms, kLayer };
// kClampedSwiglu joins gate and up: (up + 1) * gate * sigmoid(1.702 gate), with gate cut to at most 7 and
// up to -7 .. 7 (gpt-oss). The others act on the gate, by which up is multiplied.
enum class Activation : std::uint8_t { kSilu, kGeluTanh, kGelu, kClampedSwiglu };

// What is normalised of q and k, before rope.
enum class QkNorm : std::uint8_t {
  kNone,
  kHeads,     // every head by RMS, all by one weight [head_dim]
  kWhole,     // all heads of a row at once by RMS, weight [heads * head_dim]
  kOwnHeads,  // every head by a layer norm without bias, each by its own weight [head_dim]
};

enum class RopeKind : std::uint8_t { kDefault, kLinear, kDynamic, kLlama3, kYarn, kLongRope };

// How positions rotate a head's vector. Names and formulas are those of transformers'
// modeling_rope_utils.py.
struct RopeConfig {
  RopeKind kind = RopeKind::kDefault;
  double theta = 10000;
  int dims = 0;  // number of leading dimensions of a head that are rotated; even
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  int original_context = 0;                          // llama3, yarn, longrope, dynamic
  double beta_fast = 32, beta_slow = 1;              // yarn
  bool truncate = true;                              // yarn
  double attention_factor = 1;                       // multiplies cos and sin
  std::vector<double> short_factor, long_factor;     // longrope: [dims / 2]
  std::vector<float> divisors;  // GGUF's rope_freqs tensor: [dims / 2] or empty
  // > 0: only the first so many of the dims / 2 pairs are rotated, with the frequencies that they have
  // among all (transformers' "proportional").
  int rotated_pairs = 0;
};

// q of a row is multiplied by 1 + beta * ln(1 + floor(position / every)), which keeps attention
// sharp in long texts (Llama 4, Ministral 3). beta 0: it stays.
struct QueryScale {
  double beta = 0;
  int every = 0;  // positions
};

// How a row's MLPs are chosen among those of a layer, and weighted (core/kernels/router.h).
struct ExpertsConfig {
  int used = 0;                 // number that a row goes through
  int intermediate = 0;         // of each; 0 = as the layers with one MLP
  int shared_intermediate = 0;  // of one more MLP, through which every row goes; 0 = none
  bool shared_gate = false;     // that one's result is times sigmoid(gate . x)
  bool router_bias = false;     // the router's scores have a bias
  bool sigmoid = false;         // scores are sigmoids one by one, else their softmax
  bool selection_bias = false;  // experts have a bias that counts in the choice, not in the weights
  bool normalise = false;       // the weights of a row's experts are divided by their sum
  float sum_offset = 0;         // with `normalise`: added to that sum
  float scale = 1;              // of those weights
  // Gemma 4: the router, the experts and the shared MLP read the same stream, each through a norm of its
  // own. The router's norm has no weight; its result is multiplied by router_scale / sqrt(hidden). The
  // experts' sum and the shared MLP's result go through one more norm each before they are added. An
  // expert's weight is multiplied by a scale of its own.
  bool own_norms = false;
};

inline constexpr int kMostTaps = 64;  // of a layer

struct LayerConfig {
  int window = 0;   // 0 = sees everything before it, else the last `window` positions
  int rope = 0;     // index in ModelConfig::ropes, -1 = this layer has no rotary positions
  int experts = 0;  // number of MLPs from which a row's are chosen; 0 = the layer has one MLP
  // 0 = ModelConfig's. In a layer with experts `intermediate` is that of the shared one.
  int head_dim = 0, kv_heads = 0, intermediate = 0;
  int kv_from = -1;  // the earlier layer whose K and V it reads; -1 = it has K and V of its own
  bool value_is_key = false;  // V is what the matrix of K gives, before norm and rope
  // > 0: the layer has a convolution in place of attention (cpu_short_conv.h); it reads this number of rows of a path.
  int taps = 0;
};

// The heads of one layer's attention.
struct HeadShape {
  int heads = 0, kv_heads = 0, head_dim = 0;
  bool owns_kv = true;  // it computes K and V
  bool value_is_key = false;
  int query_dims() const { return heads * head_dim; }
  int kv_dims() const { return kv_heads * head_dim; }
  int qkv_dims() const { return query_dims() + (owns_kv ? 2 * kv_dims() : 0); }
};

// What a slot of a KV storage holds of a layer: K [heads, head_dim], and V of that shape. Of a layer with taps it is
// one column of the convolution's state, in the place of K.
struct KvShape {
  int heads = 0, head_dim = 0;  // 0 = the layer reads K and V of another
  bool has_values = false;
  int key_values() const { return heads * head_dim; }
  int value_values() const { return has_values ? key_values() : 0; }
  bool operator==(const KvShape&) const = default;
};

// A second embedding, of every token for every layer (Gemma 4). Between its layers a model computes
//   p = (norm(projection(e) / sqrt(hidden)) + sqrt(dims) embedding[token]) / sqrt(2)   [layers, dims]
//   x = x + norm(output_i(act(gate_i(x)) * p_i))                 behind the MLP of layer i
// with e the embedding that enters the first layer. A row without a token has the first term alone, undivided.
struct PerLayerConfig {
  int dims = 0;   // 0 = the model has none
  int vocab = 0;  // rows of the embedding
};

struct ModelConfig {
  std::string family;  // config.json's model_type: "llama", "qwen2", ...
  std::string name;
  int hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, vocab_size = 0,
      context = 0;
  std::vector<LayerConfig> layers;
  std::vector<RopeConfig> ropes;

  NormKind norm = NormKind::kRms;
  float norm_eps = 1e-5f;
  bool norm_plus_one = false;  // weights are stored as w - 1 (Gemma in safetensors)
  bool norm_bias = true;       // layer norms have a bias; RMS norms never do
  bool pre_norms = true;       // norms of what enters attention and the MLP
  bool post_norms = false;     // norms of what leaves them, before it is added to the stream
  // Attention and MLP read the same stream, and both results are added to it; else the MLP reads
  // the stream with attention's result. Only with pre_norms and without post_norms.
  bool parallel_residual = false;
  bool shared_norm = false;  // with parallel_residual: the MLP's input is attention's
  QkNorm qk_norm = QkNorm::kNone;
  bool value_norm = false;   // every head of v by RMS, without a weight
  bool layer_scale = false;  // the stream that leaves a layer is times a weight
  PerLayerConfig per_layer;
  Activation activation = Activation::kSilu;
  ExpertsConfig experts;  // of the layers that have some
  bool gated_mlp = true;  // down(act(gate(x)) * up(x)), else down(act(up(x)))
  bool qkv_bias = false, output_bias = false, mlp_bias = false, head_bias = false;
  bool conv_bias = false;  // of convolutions, and of the matrices around them
  bool learned_positions = false;
  // > 0: rope switches at this many tokens and older KV must be recomputed (Phi-3); 0: KV stays
  // valid.
  int kv_valid_until = 0;
  bool tied_embeddings = false;
  float embedding_scale = 1;
  float residual_scale = 1;  // of what is added to the stream; only without post_norms
  float logit_scale = 1;
  float attention_scale = 0;    // of q.k
  float attention_softcap = 0;  // 0 = none, else cap * tanh(score / cap)
  QueryScale query_scale;
  // Every head has a learned score that takes its share of the softmax and gives no value.
  bool attention_sinks = false;
  float qkv_clip = 0;  // > 0: q, k and v, normalised, are cut to this and minus this
  float logit_softcap = 0;

  bool from_gguf = false;
  // Safetensors: the experts' matrices are MXFP4 blocks with their scales in a tensor beside them.
  bool mxfp4_experts = false;
  // > 0: in the file, the first this many rows of each head of q and k lie in rope's pairs (0, half, 1,
  // half + 1, ...).
  int interleaved_rows = 0;
  // GGUF: q, k and v are one tensor; so are gate and up, of the experts where a layer has some.
  bool fused_qkv = false, fused_gate_up = false;

  std::vector<std::int32_t> eos_token_ids;
  std::int32_t bos_token_id = -1;
  GenerationSettings generation;
  // Sentences for the user: what the files say and is ignored, and why.
  std::vector<std::string> notes;

  // Of a layer that does not say otherwise.
  int query_dims() const { return heads * head_dim; }
  int kv_dims() const { return kv_heads * head_dim; }
  HeadShape heads_of(std::size_t layer) const;
  KvShape kv_shape(std::size_t layer) const;
  // The layer whose K and V a layer reads.
  std::size_t kv_layer(std::size_t layer) const;
  // Whether every layer has K and V of its own, of one shape.
  bool has_even_kv() const;
  // K and V of a token in all layers.
  std::int64_t kv_values() const;
  int widest_head() const;
  int widest_query() const;  // most query_dims of a layer
  int widest_intermediate() const;
  // Of the MLP `expert` of a layer: -1 = its only one, its number of experts = the shared one.
  int intermediate_of(int layer, int expert) const;
  // Number of MLPs of a layer, the shared one included.
  int mlps_of(int layer) const;
  int most_taps() const;  // of a layer; 0 = the model has no convolutions
  bool has_experts() const;
};

// `folder` holds config.json. Errors: kNotFound, kCorruption, kNotSupported.
ModelConfig config_from_folder(const std::string& folder);
// The same from texts: config.json and generation_config.json ("" = none). `source` is for
// messages.
ModelConfig config_from_json(std::string_view config, std::string_view generation,
                             const std::string& source);
ModelConfig config_from_gguf(const GgufFile& file);

// Both call this. Error{kCorruption}: the numbers contradict each other or are absurd. `source` is
// for the message.
void validate(const ModelConfig& config, const std::string& source);

}  // namespace triescope::formats

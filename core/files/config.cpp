#include "core/files/config.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void check(bool good, const std::string& source, const std::string& what) {
  if (!good) throw Error(ErrorCode::kCorruption, source + ": " + what);
}

void check_range(int value, int low, int high, const std::string& source, const char* name) {
  check(value >= low && value <= high, source,
        std::string("expected ") + name + " from " + std::to_string(low) + " to " +
            std::to_string(high) + ", found " + std::to_string(value));
}

bool is_good(double value) { return std::isfinite(value) && value > 0; }

void validate_rope(const RopeConfig& rope, const ModelConfig& config, const std::string& source) {
  check(rope.dims >= 2 && rope.dims <= config.widest_head() && rope.dims % 2 == 0, source,
        "expected an even number of rotary dimensions up to head_dim = " +
            std::to_string(config.widest_head()) + ", found " + std::to_string(rope.dims));
  check(rope.rotated_pairs >= 0 && rope.rotated_pairs <= rope.dims / 2, source,
        "expected at most " + std::to_string(rope.dims / 2) + " rotated pairs, found " +
            std::to_string(rope.rotated_pairs));
  check(rope.rotated_pairs == 0 ||
            (rope.kind != RopeKind::kLongRope && rope.kind != RopeKind::kDynamic),
        source, "expected all pairs rotated under longrope and dynamic rope");
  check(is_good(rope.theta) && is_good(rope.factor) && is_good(rope.attention_factor), source,
        "expected rope theta, factor and attention factor above 0");
  if (rope.kind == RopeKind::kLlama3) {
    check(rope.original_context > 0 && is_good(rope.low_freq_factor) &&
              rope.high_freq_factor > rope.low_freq_factor && std::isfinite(rope.high_freq_factor),
          source,
          "llama3 rope: expected high_freq_factor > low_freq_factor > 0 and an original context");
  }
  if (rope.kind == RopeKind::kYarn) {
    check(rope.original_context > 0 && is_good(rope.beta_fast) && is_good(rope.beta_slow), source,
          "yarn rope: expected beta_fast, beta_slow and an original context above 0");
  }
  if (rope.kind == RopeKind::kDynamic) {
    check(rope.original_context > 0 && rope.dims > 2 && rope.factor >= 1, source,
          "dynamic rope: expected a context, a factor of 1 or more and more than 2 dimensions");
  }
  const auto half = static_cast<std::size_t>(rope.dims / 2);
  if (rope.kind == RopeKind::kLongRope) {
    check(
        rope.original_context > 0 && rope.short_factor.size() == half &&
            rope.long_factor.size() == half,
        source,
        "longrope: expected short_factor and long_factor of " + std::to_string(half) + " numbers");
    for (std::size_t i = 0; i < half; ++i) {
      check(is_good(rope.short_factor[i]) && is_good(rope.long_factor[i]), source,
            "longrope: expected factors above 0");
    }
  }
  check(rope.divisors.empty() || rope.divisors.size() == half, source,
        "expected " + std::to_string(half) + " rope factors, found " +
            std::to_string(rope.divisors.size()));
  for (const float divisor : rope.divisors)
    check(is_good(divisor), source, "expected rope factors above 0");
}

void validate_experts(int count, const ExpertsConfig& experts, const std::string& source) {
  check_range(count, 1, 1 << 12, source, "experts in a layer");
  check_range(experts.used, 1, count, source, "experts of a token");
  check_range(experts.intermediate, 0, 1 << 20, source, "intermediate size of an expert");
  check_range(experts.shared_intermediate, 0, 1 << 20, source,
              "intermediate size of the shared expert");
  check(is_good(experts.scale), source, "expected a scale of the experts' weights above 0");
}

void validate_layer(const ModelConfig& config, std::size_t index, const std::string& source) {
  const LayerConfig& layer = config.layers[index];
  const HeadShape shape = config.heads_of(index);
  check(layer.window >= 0, source, "expected a sliding window above 0");
  check(layer.rope >= -1 && layer.rope < static_cast<int>(config.ropes.size()), source,
        "no such rope");
  if (layer.experts != 0) validate_experts(layer.experts, config.experts, source);
  check_range(shape.head_dim, 1, 1024, source, "head_dim");
  check_range(shape.kv_heads, 1, config.heads, source, "key/value heads");
  check(config.heads % shape.kv_heads == 0, source,
        "expected attention heads (" + std::to_string(config.heads) +
            ") to be a multiple of key/value heads (" + std::to_string(shape.kv_heads) + ")");
  check(layer.rope < 0 || config.ropes[static_cast<std::size_t>(layer.rope)].dims <= shape.head_dim,
        source, "expected rotary dimensions up to a layer's head_dim");
  check_range(config.intermediate_of(static_cast<int>(index), -1), 1, 1 << 20, source,
              "intermediate size");
  check_range(layer.taps, 0, kMostTaps, source, "taps of a convolution");
  if (layer.kv_from == -1) return;
  check(layer.kv_from >= 0 && layer.kv_from < static_cast<int>(index), source,
        "expected a layer to read the K and V of an earlier one");
  const HeadShape from = config.heads_of(static_cast<std::size_t>(layer.kv_from));
  check(from.owns_kv && from.kv_dims() == shape.kv_dims() && from.head_dim == shape.head_dim,
        source, "expected a layer to read the K and V of one with heads like its own");
}

}  // namespace

HeadShape ModelConfig::heads_of(std::size_t layer) const {
  const LayerConfig& of = layers[layer];
  return {.heads = heads,
          .kv_heads = of.kv_heads > 0 ? of.kv_heads : kv_heads,
          .head_dim = of.head_dim > 0 ? of.head_dim : head_dim,
          .owns_kv = of.kv_from < 0,
          .value_is_key = of.value_is_key};
}

std::size_t ModelConfig::kv_layer(std::size_t layer) const {
  return layers[layer].kv_from < 0 ? layer : static_cast<std::size_t>(layers[layer].kv_from);
}

KvShape ModelConfig::kv_shape(std::size_t layer) const {
  if (layers[layer].taps > 0) return {.heads = 1, .head_dim = hidden};
  const HeadShape shape = heads_of(layer);
  if (!shape.owns_kv) return {};
  return {.heads = shape.kv_heads, .head_dim = shape.head_dim, .has_values = true};
}

bool ModelConfig::has_even_kv() const {
  const KvShape first = kv_shape(0);
  if (!first.has_values) return false;
  for (std::size_t i = 1; i < layers.size(); ++i)
    if (kv_shape(i) != first) return false;
  return true;
}

std::int64_t ModelConfig::kv_values() const {
  std::int64_t values = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const KvShape shape = kv_shape(i);
    values += shape.key_values() + shape.value_values();
  }
  return values;
}

int ModelConfig::widest_head() const {
  int widest = layers.empty() ? head_dim : 0;
  for (std::size_t i = 0; i < layers.size(); ++i) widest = std::max(widest, heads_of(i).head_dim);
  return widest;
}

int ModelConfig::widest_query() const { return heads * widest_head(); }

int ModelConfig::widest_intermediate() const {
  int widest = intermediate;
  for (const LayerConfig& layer : layers) widest = std::max(widest, layer.intermediate);
  return widest;
}

int ModelConfig::intermediate_of(int layer, int expert) const {
  const LayerConfig& of = layers[static_cast<std::size_t>(layer)];
  const int routed = of.experts;
  if (expert < 0 || routed == 0) return of.intermediate > 0 ? of.intermediate : intermediate;
  if (expert == routed) return of.intermediate > 0 ? of.intermediate : experts.shared_intermediate;
  return experts.intermediate > 0 ? experts.intermediate : intermediate;
}

int ModelConfig::mlps_of(int layer) const {
  const int routed = layers[static_cast<std::size_t>(layer)].experts;
  return routed == 0 ? 1 : routed + (experts.shared_intermediate > 0 ? 1 : 0);
}

bool ModelConfig::has_experts() const {
  return std::ranges::any_of(layers, [](const LayerConfig& layer) { return layer.experts > 0; });
}

int ModelConfig::most_taps() const {
  int most = 0;
  for (const LayerConfig& layer : layers) most = std::max(most, layer.taps);
  return most;
}

void validate(const ModelConfig& config, const std::string& source) {
  check_range(static_cast<int>(config.layers.size()), 1, 1024, source, "layers");
  check_range(config.hidden, 1, 1 << 17, source, "hidden size");
  check_range(config.heads, 1, 1 << 12, source, "attention heads");
  check_range(config.kv_heads, 1, config.heads, source, "key/value heads");
  check_range(config.head_dim, 1, 1024, source, "head_dim");
  check_range(config.intermediate, 1, 1 << 20, source, "intermediate size");
  check_range(config.vocab_size, 1, 1 << 24, source, "vocabulary size");
  check_range(config.context, 1, 1 << 28, source, "context length");
  check(config.heads % config.kv_heads == 0, source,
        "expected attention heads (" + std::to_string(config.heads) +
            ") to be a multiple of key/value heads (" + std::to_string(config.kv_heads) + ")");
  check(config.norm_eps >= 0 && std::isfinite(config.norm_eps), source,
        "expected a norm epsilon of 0 or more");
  check(is_good(config.attention_scale) && is_good(config.embedding_scale) &&
            is_good(config.residual_scale) && is_good(config.logit_scale),
        source, "expected scales above 0");
  check(std::isfinite(config.qkv_clip) && config.qkv_clip >= 0, source,
        "expected a limit of q, k and v of 0 or more");
  check(config.query_scale.beta == 0 ||
            (is_good(config.query_scale.beta) && config.query_scale.every > 0),
        source, "expected a scale of q by position above 0, and an original context");
  check(std::isfinite(config.attention_softcap) && config.attention_softcap >= 0 &&
            std::isfinite(config.logit_softcap) && config.logit_softcap >= 0,
        source, "expected soft caps of 0 or more");
  for (const RopeConfig& rope : config.ropes) validate_rope(rope, config, source);
  for (std::size_t i = 0; i < config.layers.size(); ++i) validate_layer(config, i, source);
  check_range(config.per_layer.dims, 0, 1 << 14, source, "size of the embedding of a layer");
  check(config.per_layer.dims == 0 || config.per_layer.vocab >= config.vocab_size, source,
        "expected an embedding of every layer for each of the " +
            std::to_string(config.vocab_size) + " tokens, found " +
            std::to_string(config.per_layer.vocab));
  for (const std::int32_t id : config.eos_token_ids) {
    check(id >= 0 && id < config.vocab_size, source,
          "expected end-of-sequence ids below the vocabulary size " +
              std::to_string(config.vocab_size) + ", found " + std::to_string(id));
  }
}

const std::vector<const Family*>& all_families() {
  extern const Family kLlama, kMistral, kMinistral, kMinistral3, kMistral3, kQwen2, kQwen3,
      kSmolLm3, kPhi, kPhi3, kGemma2, kGemma3, kGpt2, kGptNeoX, kGranite, kOlmo2, kOlmo3, kGlm4,
      kCohere2, kStarCoder2, kExaone4, kStableLm, kSeedOss, kMixtral, kQwen2Moe, kQwen3Moe, kOlmoe,
      kGptOss, kGraniteMoe, kGraniteMoeShared, kGemma4, kGemma4Text, kLfm2, kLfm2Moe;
  static const std::vector<const Family*> families = {
      &kLlama,    &kMistral,    &kMinistral,        &kMinistral3, &kMistral3,
      &kQwen2,    &kQwen3,      &kSmolLm3,          &kPhi,        &kPhi3,
      &kGemma2,   &kGemma3,     &kGemma4,           &kGemma4Text, &kLfm2,
      &kLfm2Moe,  &kGpt2,       &kGptNeoX,          &kGranite,    &kOlmo2,
      &kOlmo3,    &kGlm4,       &kCohere2,          &kStarCoder2, &kExaone4,
      &kStableLm, &kSeedOss,    &kMixtral,          &kQwen2Moe,   &kQwen3Moe,
      &kOlmoe,    &kGraniteMoe, &kGraniteMoeShared, &kGptOss};
  return families;
}

const Family& family_of(const ModelConfig& config) {
  for (const Family* family : all_families()) {
    if (config.family == family->model_type) return *family;
  }
  throw Error(ErrorCode::kNotSupported, "model family '" + config.family + "' is not supported");
}

}  // namespace triescope::formats

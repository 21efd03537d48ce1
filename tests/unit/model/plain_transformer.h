// The transformer of a ModelConfig once more, in plain loops and doubles: what the executors are
// tested against where no golden has the numbers. Shares nothing with them but the description and
// the file; the formulas are those of transformers (modeling_*.py, modeling_rope_utils.py). A test
// may change its description, to see that a setting shows in the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files/weights.h"

namespace triescope::test {

// Radians per position by which pair i of a rope rotates, for a text of `length` tokens.
inline double plain_frequency(const formats::RopeConfig& rope, int i, int length) {
  using formats::RopeKind;
  const auto at = static_cast<std::size_t>(i);
  const double plain = std::pow(rope.theta, -2.0 * i / rope.dims);
  const double wavelength = 2 * std::numbers::pi / plain;
  switch (rope.kind) {
    case RopeKind::kDefault:
      return rope.divisors.empty() ? plain : plain / rope.divisors[at];
    case RopeKind::kLinear:
      return plain / rope.factor;
    case RopeKind::kDynamic: {
      if (length <= rope.original_context) return plain;
      const double grown = rope.factor * length / rope.original_context - (rope.factor - 1);
      const double theta = rope.theta * std::pow(grown, rope.dims / (rope.dims - 2.0));
      return std::pow(theta, -2.0 * i / rope.dims);
    }
    case RopeKind::kLlama3: {
      // Full rotations within the original context: few = slowed down, many = kept.
      const double rotations = rope.original_context / wavelength;
      if (rotations < rope.low_freq_factor) return plain / rope.factor;
      if (rotations > rope.high_freq_factor) return plain;
      const double kept =
          (rotations - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
      return kept * plain + (1 - kept) * plain / rope.factor;
    }
    case RopeKind::kYarn: {
      const auto pair_of =
          [&](double rotations) {  // the pair that rotates this often, a real number
            return rope.dims *
                   std::log(rope.original_context / (rotations * 2 * std::numbers::pi)) /
                   (2 * std::log(rope.theta));
          };
      double low = pair_of(rope.beta_fast), high = pair_of(rope.beta_slow);
      if (rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
      }
      low = std::max(low, 0.0);
      high = std::min(high, rope.dims - 1.0);
      const double slowed = std::clamp((i - low) / (high - low), 0.0, 1.0);
      return plain * (1 - slowed) + plain / rope.factor * slowed;
    }
    case RopeKind::kLongRope:
      return plain / (length > rope.original_context ? rope.long_factor : rope.short_factor)[at];
  }
  throw std::logic_error("no such rope");
}

class PlainTransformer {
 public:
  using Row = std::vector<double>;
  using Matrix = std::vector<Row>;

  // Hidden states by layer as ForwardBatch::feature_layers counts them, the final norm's output at
  // the end: [L + 2][rows][hidden]; logits [rows][vocab].
  struct Result {
    std::vector<Matrix> states;
    Matrix logits;
  };

  explicit PlainTransformer(const std::string& path)
      : source_(formats::WeightSource::open(path)),
        config(source_->config()),
        qk_norm_eps(config.norm_eps) {}

 private:
  std::unique_ptr<formats::WeightSource> source_;

 public:
  formats::ModelConfig config;
  double qk_norm_eps;
  bool mlp_after_attention = false;  // whatever the configuration says

  // One causal forward over `ids` at positions 0, 1, ...
  Result run(const std::vector<std::int32_t>& ids, int text_length) const {
    using formats::Role;
    const std::size_t rows = ids.size();
    Result result;
    Matrix x;
    const Matrix embedding = matrix(Role::kEmbedding, 0);
    const Matrix positions = config.learned_positions ? matrix(Role::kPositions, 0) : Matrix();
    for (std::size_t r = 0; r < rows; ++r) {
      x.push_back(embedding[static_cast<std::size_t>(ids[r])]);
      for (double& value : x.back()) value *= config.embedding_scale;
      if (config.learned_positions) add(x.back(), positions[r]);
    }
    result.states.push_back(x);
    const auto head_dim = static_cast<std::size_t>(config.head_dim);
    const auto heads = static_cast<std::size_t>(config.heads);
    const auto kv_heads = static_cast<std::size_t>(config.kv_heads);
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
      const int l = static_cast<int>(layer);
      Matrix q, k, v;
      for (std::size_t r = 0; r < rows; ++r) {
        const Row h =
            norm(x[r], vector(Role::kAttentionNorm, l), vector(Role::kAttentionNormBias, l));
        q.push_back(linear(h, matrix(Role::kQuery, l), vector(Role::kQueryBias, l)));
        k.push_back(linear(h, matrix(Role::kKey, l), vector(Role::kKeyBias, l)));
        v.push_back(linear(h, matrix(Role::kValue, l), vector(Role::kValueBias, l)));
        norm_heads(q.back(), matrix(Role::kQueryNorm, l));
        norm_heads(k.back(), matrix(Role::kKeyNorm, l));
        if (const double limit = config.qkv_clip; limit > 0)
          for (Row* part : {&q.back(), &k.back(), &v.back()})
            for (double& value : *part) value = std::clamp(value, -limit, limit);
        if (config.layers[layer].rope >= 0) {
          const auto& rope = config.ropes[static_cast<std::size_t>(config.layers[layer].rope)];
          rotate(q.back(), rope, static_cast<int>(r), text_length);
          rotate(k.back(), rope, static_cast<int>(r), text_length);
        }
        if (config.query_scale.beta != 0)
          for (double& value : q.back())
            value *= 1 + config.query_scale.beta *
                             std::log(1.0 + static_cast<double>(static_cast<int>(r) /
                                                                config.query_scale.every));
      }
      for (std::size_t r = rows; r-- > 0;) {
        Row attended(heads * head_dim, 0.0);
        const std::size_t window = static_cast<std::size_t>(config.layers[layer].window);
        const std::size_t first = window > 0 && r + 1 > window ? r + 1 - window : 0;
        for (std::size_t head = 0; head < heads; ++head) {
          const std::size_t kv = head / (heads / kv_heads);
          Row weights;
          double total = config.attention_sinks ? std::exp(vector(Role::kSinks, l)[head]) : 0;
          for (std::size_t j = first; j <= r; ++j) {
            double score = 0;
            for (std::size_t d = 0; d < head_dim; ++d)
              score += q[r][head * head_dim + d] * k[j][kv * head_dim + d];
            score *= config.attention_scale;
            weights.push_back(std::exp(capped(score, config.attention_softcap)));
            total += weights.back();
          }
          for (std::size_t j = first; j <= r; ++j)
            for (std::size_t d = 0; d < head_dim; ++d)
              attended[head * head_dim + d] += weights[j - first] / total * v[j][kv * head_dim + d];
        }
        Row h = linear(attended, matrix(Role::kOutput, l), vector(Role::kOutputBias, l));
        if (config.post_norms) h = norm(h, vector(Role::kPostAttentionNorm, l), {});
        const Row before = x[r];
        add(x[r], h, config.residual_scale);
        const bool beside = config.parallel_residual && !mlp_after_attention;
        const Role mlp_norm = config.shared_norm ? Role::kAttentionNorm : Role::kMlpNorm;
        const Role mlp_bias = config.shared_norm ? Role::kAttentionNormBias : Role::kMlpNormBias;
        h = norm(beside ? before : x[r], vector(mlp_norm, l), vector(mlp_bias, l));
        h = config.layers[layer].experts > 0 ? mixture(h, l) : mlp(h, {Role::kUp, l});
        if (config.post_norms) h = norm(h, vector(Role::kPostMlpNorm, l), {});
        add(x[r], h, config.residual_scale);
      }
      result.states.push_back(x);
    }
    for (Row& row : x)
      row = norm(row, vector(Role::kFinalNorm, 0), vector(Role::kFinalNormBias, 0));
    result.states.push_back(x);
    const Matrix head = matrix(config.tied_embeddings ? Role::kEmbedding : Role::kHead, 0);
    for (const Row& row : x) {
      result.logits.push_back(linear(row, head, vector(Role::kHeadBias, 0)));
      for (double& logit : result.logits.back())
        logit = capped(logit * config.logit_scale, config.logit_softcap);
    }
    return result;
  }

 private:
  // Layer and expert are those of `which`.
  Row mlp(const Row& x, const formats::Part& which) const {
    using formats::Role;
    const auto of = [&](Role role) { return matrix(role, which.layer, which.expert); };
    const auto bias = [&](Role role) { return vector(role, which.layer, which.expert); };
    Row inner = linear(x, of(Role::kUp), bias(Role::kUpBias));
    if (config.gated_mlp) {
      const Row gate = linear(x, of(Role::kGate), bias(Role::kGateBias));
      for (std::size_t i = 0; i < inner.size(); ++i)
        inner[i] = activate(gate[i]) * (config.activation == formats::Activation::kClampedSwiglu
                                            ? std::clamp(inner[i], -7.0, 7.0) + 1
                                            : inner[i]);
    } else {
      for (double& value : inner) value = activate(value);
    }
    return linear(inner, of(Role::kDown), bias(Role::kDownBias));
  }

  Row mixture(const Row& x, int layer) const {
    using formats::Role;
    const int experts = config.layers[static_cast<std::size_t>(layer)].experts;
    Row scores = linear(x, matrix(Role::kRouter, layer), vector(Role::kRouterBias, layer));
    double total = 0;
    for (double& score : scores) total += score = std::exp(score);
    for (double& score : scores) score /= total;
    std::vector<int> order;
    for (int i = 0; i < experts; ++i) order.push_back(i);
    std::ranges::stable_sort(order, [&](int a, int b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    order.resize(static_cast<std::size_t>(config.experts.used));
    double sum = 0;
    for (const int expert : order) sum += scores[static_cast<std::size_t>(expert)];
    Row y(x.size(), 0.0);
    for (const int expert : order)
      add(y, mlp(x, {Role::kUp, layer, expert}),
          scores[static_cast<std::size_t>(expert)] / (config.experts.normalise ? sum : 1) *
              config.experts.scale);
    if (config.experts.shared_intermediate == 0) return y;
    const Row gate = linear(x, matrix(Role::kSharedGate, layer), {});
    add(y, mlp(x, {Role::kUp, layer, experts}), gate.empty() ? 1 : 1 / (1 + std::exp(-gate[0])));
    return y;
  }

  // Empty where the model has no such weight.
  Matrix matrix(formats::Role role, int layer, int expert = -1) const {
    const formats::Part part(role, layer, expert);
    const auto shape = source_->shape(part);
    if (!shape) return {};
    std::vector<float> values(static_cast<std::size_t>(shape->rows * shape->cols));
    source_->read_rows(part, 0, values);
    Matrix rows;
    for (std::int64_t r = 0; r < shape->rows; ++r)
      rows.emplace_back(values.begin() + r * shape->cols, values.begin() + (r + 1) * shape->cols);
    return rows;
  }
  Row vector(formats::Role role, int layer, int expert = -1) const {
    Row values;
    for (const Row& row : matrix(role, layer, expert)) values.push_back(row[0]);
    return values;
  }

  static void add(Row& x, const Row& y, double scale = 1) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += scale * y[i];
  }
  static Row linear(const Row& x, const Matrix& w, const Row& bias) {
    Row y;
    for (std::size_t n = 0; n < w.size(); ++n) {
      double sum = bias.empty() ? 0 : bias[n];
      for (std::size_t i = 0; i < x.size(); ++i) sum += w[n][i] * x[i];
      y.push_back(sum);
    }
    return y;
  }
  static double capped(double x, double cap) { return cap > 0 ? cap * std::tanh(x / cap) : x; }

  double activate(double x) const {
    switch (config.activation) {
      case formats::Activation::kSilu:
        return x / (1 + std::exp(-x));
      case formats::Activation::kGelu:
        return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
      case formats::Activation::kGeluTanh:
        return x / 2 *
               (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
      case formats::Activation::kClampedSwiglu: {
        const double gate = std::min(x, 7.0);
        return gate / (1 + std::exp(-1.702 * gate));
      }
    }
    throw std::logic_error("no such activation");
  }

  void rms_norm(double* x, std::size_t n, const Row& weight, double eps) const {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += x[i] * x[i];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (std::size_t i = 0; i < n; ++i)
      x[i] *= scale * (weight[i] + (config.norm_plus_one ? 1 : 0));
  }
  // q or k of a row; the weight's shape is that of QkNorm.
  void norm_heads(Row& x, const Matrix& weight) const {
    if (config.qk_norm == formats::QkNorm::kNone) return;
    if (config.qk_norm == formats::QkNorm::kOwnHeads) {
      for (std::size_t head = 0; head < weight.size(); ++head) {
        const std::size_t dim = weight[head].size();
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(head * dim);
        const Row normed = layer_norm(Row(begin, begin + static_cast<std::ptrdiff_t>(dim)),
                                      weight[head], {}, qk_norm_eps);
        std::copy(normed.begin(), normed.end(), begin);
      }
      return;
    }
    Row values;  // of a head, or of all of them
    for (const Row& row : weight) values.push_back(row[0]);
    for (std::size_t at = 0; at < x.size(); at += values.size())
      rms_norm(&x[at], values.size(), values, qk_norm_eps);
  }
  // x itself where there is no weight.
  Row norm(Row x, const Row& weight, const Row& bias) const {
    if (weight.empty()) return x;
    if (config.norm == formats::NormKind::kLayer)
      return layer_norm(std::move(x), weight, bias, config.norm_eps);
    rms_norm(x.data(), x.size(), weight, config.norm_eps);
    return x;
  }
  static Row layer_norm(Row x, const Row& weight, const Row& bias, double eps) {
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x)
      variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = (x[i] - mean) / std::sqrt(variance + eps) * weight[i] + (bias.empty() ? 0 : bias[i]);
    return x;
  }

  void rotate(Row& x, const formats::RopeConfig& rope, int position, int text_length) const {
    const auto half = static_cast<std::size_t>(rope.dims / 2);
    for (std::size_t head = 0; head < x.size(); head += static_cast<std::size_t>(config.head_dim)) {
      for (std::size_t i = 0; i < half; ++i) {
        const double angle = position * plain_frequency(rope, static_cast<int>(i),
                                                        std::max(text_length, position + 1));
        const double c = std::cos(angle) * rope.attention_factor;
        const double s = std::sin(angle) * rope.attention_factor;
        const double a = x[head + i], b = x[head + half + i];
        x[head + i] = a * c - b * s;
        x[head + half + i] = b * c + a * s;
      }
    }
  }
};

}  // namespace triescope::test

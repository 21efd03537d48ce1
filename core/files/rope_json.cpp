// The rope settings of config.json as transformers 5 reads them: rope_parameters, or the older
// rope_scaling with rope_theta.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

RopeKind kind_of(const JsonFields& rope, const std::string& type) {
  if (type == "default") return RopeKind::kDefault;
  if (type == "linear") return RopeKind::kLinear;
  if (type == "dynamic") return RopeKind::kDynamic;
  if (type == "llama3") return RopeKind::kLlama3;
  if (type == "yarn") return RopeKind::kYarn;
  if (type == "longrope" || type == "su") return RopeKind::kLongRope;
  rope.not_supported("rope type '" + type.substr(0, 40) +
                     "' (default, linear, dynamic, llama3, yarn, longrope and proportional are "
                     "read; choose a model that has one of them)");
}

double yarn_scale(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

}  // namespace

RopeConfig rope_from_json(const JsonFields& fields, double default_theta, double factor,
                          ModelConfig& config, std::optional<int> original_context, RotaryPart part,
                          int head_dim) {
  RopeConfig rope;
  if (head_dim == 0) head_dim = config.head_dim;
  if (fields.has("factor") && !fields.has("rope_type") && !fields.has("type"))
    config.notes.push_back("config.json: the rope settings have a factor of " +
                           dump_json(fields.raw()["factor"]) +
                           " and no rope_type: positions are not scaled");
  const std::string type = fields.text("rope_type", fields.text("type", "default"));
  const bool proportional = type == "proportional";
  if (proportional) {
    rope.kind = fields.has("factor") ? RopeKind::kLinear : RopeKind::kDefault;
  } else {
    rope.kind = kind_of(fields, type);
  }
  rope.theta = fields.number("rope_theta", default_theta);
  double partial = fields.number("partial_rotary_factor", factor);
  if (!(partial > 0 && partial <= 1))
    fields.corrupt("partial_rotary_factor", "a number above 0, at most 1");
  if (proportional) {
    rope.rotated_pairs = static_cast<int>(partial * head_dim / 2);
    if (rope.rotated_pairs < 1)
      fields.corrupt("partial_rotary_factor", "a number that leaves one pair of a head or more");
    partial = 1;
  }
  if (partial < 1 && part == RotaryPart::kWholeHead) {
    if (rope.kind != RopeKind::kDefault)
      fields.not_supported("partial_rotary_factor below 1 with a rope type other than default");
    config.notes.push_back(
        "config.json: partial_rotary_factor is not followed: this family rotates whole heads, as "
        "in transformers");
    partial = 1;
  }
  rope.dims = static_cast<int>(head_dim * partial);
  rope.original_context =
      original_context.value_or(fields.integer("original_max_position_embeddings", config.context));
  const bool has_factor = fields.has("factor");
  switch (rope.kind) {
    case RopeKind::kDefault:
      break;
    case RopeKind::kLinear:
      rope.factor = fields.number("factor");
      break;
    case RopeKind::kDynamic:
      rope.factor = fields.number("factor");
      rope.original_context = config.context;
      break;
    case RopeKind::kLlama3:
      rope.factor = fields.number("factor");
      rope.low_freq_factor = fields.number("low_freq_factor");
      rope.high_freq_factor = fields.number("high_freq_factor");
      break;
    case RopeKind::kYarn: {
      rope.factor = has_factor
                        ? fields.number("factor")
                        : static_cast<double>(config.context) / std::max(rope.original_context, 1);
      rope.beta_fast = fields.number("beta_fast", 32);
      rope.beta_slow = fields.number("beta_slow", 1);
      rope.truncate = fields.boolean("truncate", true);
      const double mscale = fields.number("mscale", 0);
      const double mscale_all = fields.number("mscale_all_dim", 0);
      const double inferred =
          mscale != 0 && mscale_all != 0
              ? yarn_scale(rope.factor, mscale) / yarn_scale(rope.factor, mscale_all)
              : yarn_scale(rope.factor, 1);
      rope.attention_factor = fields.number("attention_factor", inferred);
      break;
    }
    case RopeKind::kLongRope: {
      rope.short_factor = fields.numbers("short_factor");
      rope.long_factor = fields.numbers("long_factor");
      rope.factor = has_factor
                        ? fields.number("factor")
                        : static_cast<double>(config.context) / std::max(rope.original_context, 1);
      const double inferred =
          rope.factor <= 1 || rope.original_context < 2
              ? 1
              : std::sqrt(1 + std::log(rope.factor) /
                                  std::log(static_cast<double>(rope.original_context)));
      rope.attention_factor = fields.number("attention_factor", inferred);
      break;
    }
  }
  return rope;
}

void read_rope_json(const JsonFields& fields, ModelConfig& config, double default_theta,
                    std::optional<double> default_partial) {
  const RotaryPart part = default_partial ? RotaryPart::kByFactor : RotaryPart::kWholeHead;
  const double theta = fields.number("rope_theta", default_theta);
  const double factor = fields.number("partial_rotary_factor", default_partial.value_or(1));
  std::optional<int> original;
  if (fields.has("original_max_position_embeddings"))
    original = fields.integer("original_max_position_embeddings");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!fields.has(key)) continue;
    config.ropes = {rope_from_json(fields.object(key), theta, factor, config, original, part)};
    return;
  }
  static const nlohmann::json kNothing = nlohmann::json::object();
  config.ropes = {
      rope_from_json(JsonFields(kNothing, fields.path()), theta, factor, config, original, part)};
}

void read_ropes_by_window_json(const JsonFields& fields, ModelConfig& config, double full,
                               double sliding) {
  static const nlohmann::json kNothing = nlohmann::json::object();
  const JsonFields nothing(kNothing, fields.path());
  const auto part = [&](const JsonFields& all, const char* type, double theta) {
    return rope_from_json(all.has(type) ? all.object(type) : nothing, theta, 1, config, {});
  };
  if (fields.has("rope_parameters") && fields.object("rope_parameters").has("full_attention")) {
    const JsonFields rope = fields.object("rope_parameters");
    config.ropes = {part(rope, "full_attention", full), part(rope, "sliding_attention", sliding)};
  } else {
    config.ropes = {part(fields, "rope_scaling", full),
                    rope_from_json(nothing, sliding, 1, config, {})};
  }
  for (LayerConfig& layer : config.layers) layer.rope = layer.window > 0 ? 1 : 0;
}

void leave_full_layers_without_rope(ModelConfig& config) {
  for (LayerConfig& layer : config.layers) layer.rope = layer.window > 0 ? 0 : -1;
}

}  // namespace triescope::formats

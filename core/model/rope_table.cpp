#include "core/model/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace triescope {
namespace {

using formats::RopeConfig;
using formats::RopeKind;

void scale_llama3(const RopeConfig& config, std::vector<float>& frequencies) {
  const double low_wavelength = config.original_context / config.low_freq_factor;
  const double high_wavelength = config.original_context / config.high_freq_factor;
  for (float& frequency : frequencies) {
    const double wavelength = 2 * std::numbers::pi / frequency;
    if (wavelength < high_wavelength) continue;
    if (wavelength > low_wavelength) {
      frequency = static_cast<float>(frequency / config.factor);
      continue;
    }
    const double smooth = (config.original_context / wavelength - config.low_freq_factor) /
                          (config.high_freq_factor - config.low_freq_factor);
    frequency = static_cast<float>((1 - smooth) * frequency / config.factor + smooth * frequency);
  }
}

void scale_yarn(const RopeConfig& config, std::vector<float>& frequencies) {
  // The (real) dimension that makes `rotations` full rotations over the original context.
  const auto correction = [&](double rotations) {
    return config.dims * std::log(config.original_context / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(config.theta));
  };
  double low = correction(config.beta_fast);
  double high = correction(config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, config.dims - 1.0);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double original = frequencies[i];
    frequencies[i] = static_cast<float>(original / config.factor * ramp + original * (1 - ramp));
  }
}

}  // namespace

// In fp32, as in transformers.
float query_scale(const formats::QueryScale& scale, std::int32_t position) {
  if (scale.beta == 0) return 1;
  const float times = std::floor(static_cast<float>(position) / static_cast<float>(scale.every));
  return 1 + static_cast<float>(scale.beta) * std::log(1 + times);
}

RopeTable::RopeTable(const RopeConfig& config)
    : scale_(static_cast<float>(config.attention_factor)),
      original_context_(config.original_context),
      dynamic_(config.kind == RopeKind::kDynamic),
      theta_(static_cast<float>(config.theta)),
      factor_(static_cast<float>(config.factor)) {
  const auto half = static_cast<std::size_t>(config.dims / 2);
  std::vector<float> powers(half);
  for (std::size_t i = 0; i < half; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.dims);
    powers[i] = static_cast<float>(std::pow(config.theta, static_cast<double>(exponent)));
  }
  const auto divided = [&](const auto& divisors) {
    std::vector<float> frequencies(half);
    for (std::size_t i = 0; i < half; ++i)
      frequencies[i] =
          1.0f / ((divisors.empty() ? 1.0f : static_cast<float>(divisors[i])) * powers[i]);
    return frequencies;
  };
  frequencies_ = divided(config.divisors);
  if (config.rotated_pairs > 0)
    std::fill(frequencies_.begin() + config.rotated_pairs, frequencies_.end(), 0.0f);
  switch (config.kind) {
    case RopeKind::kDefault:
    case RopeKind::kDynamic:
      break;
    case RopeKind::kLinear:
      for (float& frequency : frequencies_)
        frequency = static_cast<float>(frequency / config.factor);
      break;
    case RopeKind::kLlama3:
      scale_llama3(config, frequencies_);
      break;
    case RopeKind::kYarn:
      scale_yarn(config, frequencies_);
      break;
    case RopeKind::kLongRope:
      frequencies_ = divided(config.short_factor);
      long_frequencies_ = divided(config.long_factor);
      break;
  }
}

// transformers computes the base in fp32 here.
void RopeTable::stretch(int length, std::span<float> frequencies) const {
  const auto dims = static_cast<float>(this->dims());
  const float ratio =
      factor_ * static_cast<float>(length) / static_cast<float>(original_context_) - (factor_ - 1);
  const float base = theta_ * std::pow(ratio, dims / (dims - 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = 1.0f / std::pow(base, static_cast<float>(2 * i) / dims);
}

void RopeTable::fill(int position, int length, std::span<float> cos, std::span<float> sin) const {
  const bool longer = length > original_context_;
  std::span<const float> frequencies = frequencies_;
  if (longer && dynamic_) {
    stretch(length, cos);  // cos is the scratch: each frequency is read before it is overwritten
    frequencies = cos;
  } else if (longer && !long_frequencies_.empty()) {
    frequencies = long_frequencies_;
  }
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    cos[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * scale_;
    sin[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * scale_;
  }
}

}  // namespace triescope

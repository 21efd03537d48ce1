#include "core/model/rope.h"

#include <algorithm>
#include <climits>
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
  // The dimension that turns `rotations` times over the original context.
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

RopeTable::RopeTable(const RopeConfig& config)
    : scale_(static_cast<float>(config.attention_factor)), end_(INT_MAX) {
  frequencies_.resize(static_cast<std::size_t>(config.dims / 2));
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.dims);
    const float power = static_cast<float>(std::pow(config.theta, static_cast<double>(exponent)));
    float divisor = config.divisors.empty() ? 1.0f : config.divisors[i];
    if (config.kind == RopeKind::kLongRope) divisor = static_cast<float>(config.short_factor[i]);
    frequencies_[i] = 1.0f / (divisor * power);
  }
  switch (config.kind) {
    case RopeKind::kDefault:
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
    case RopeKind::kDynamic:
    case RopeKind::kLongRope:
      end_ = config.original_context;
      break;
  }
}

void RopeTable::fill(int position, std::span<float> cos, std::span<float> sin) const {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies_[i];
    cos[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * scale_;
    sin[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * scale_;
  }
}

}  // namespace triescope

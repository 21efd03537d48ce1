// Rows and elementwise pieces: norms, activations, rope, softmax sums. Sums run by lanes over the
// row, so a row's result depends only on its values and length.
#pragma once

#include "core/kernels/cpu/math_impl.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {
namespace {

constexpr float kLowest = -__builtin_inff();

float row_max(const float* x, std::int64_t n) {
  Vec m = Vec::set(kLowest);
  map_row(n, [&](std::int64_t i, int count) { m = Vec::max(m, load_n(x + i, count, kLowest)); });
  return Vec::largest(m);
}

double row_exp_sum(const float* x, std::int64_t n, float offset, float* out) {
  constexpr std::int64_t kBlock = 4096;
  const Vec o = Vec::set(offset);
  double total = 0;
  for (std::int64_t b = 0; b < n; b += kBlock) {
    const std::int64_t size = n - b < kBlock ? n - b : kBlock;
    Vec sum = Vec::zero();
    map_row(size, [&](std::int64_t i, int count) {
      const Vec e = exp_of(load_n(x + b + i, count, kLowest) - o);
      if (out != nullptr) store_n(e, out + b + i, count);
      sum = sum + e;
    });
    total += static_cast<double>(Vec::sum(sum));
  }
  return total;
}

std::int64_t row_find_greater(const float* x, std::int64_t from, std::int64_t n, float threshold) {
  const Vec t = Vec::set(threshold);
  std::int64_t i = from;
  for (; i + Vec::kLanes <= n; i += Vec::kLanes) {
    if (Vec::any_greater(Vec::load(x + i), t)) break;
  }
  while (i < n && !(x[i] > threshold)) ++i;
  return i;
}

template <class F>
float row_sum(std::int64_t n, F f) {
  Vec sum = Vec::zero();
  map_row(n, [&](std::int64_t i, int count) { sum = f(i, count, sum); });
  return Vec::sum(sum);
}

void row_rms_norm(const float* x, std::int64_t n, const float* weight, float eps, bool plus_one,
                  float* out) {
  const float squares = row_sum(n, [&](std::int64_t i, int count, Vec sum) {
    const Vec v = load_n(x + i, count);
    return Vec::fma(v, v, sum);
  });
  const Vec f = Vec::set(1.0f / __builtin_sqrtf(squares / static_cast<float>(n) + eps));
  const Vec one = Vec::set(plus_one ? 1.0f : 0.0f);
  map_row(n, [&](std::int64_t i, int count) {
    Vec v = load_n(x + i, count) * f;
    if (weight != nullptr) v = v * (load_n(weight + i, count) + one);
    store_n(v, out + i, count);
  });
}

void row_layer_norm(const float* x, std::int64_t n, const float* weight, const float* bias,
                    float eps, float* out) {
  const float sum =
      row_sum(n, [&](std::int64_t i, int count, Vec s) { return s + load_n(x + i, count); });
  const float mean_value = sum / static_cast<float>(n);
  const Vec mean = Vec::set(mean_value);
  const float squares = row_sum(n, [&](std::int64_t i, int count, Vec s) {
    const Vec v = load_n(x + i, count, mean_value) - mean;
    return Vec::fma(v, v, s);
  });
  const Vec f = Vec::set(1.0f / __builtin_sqrtf(squares / static_cast<float>(n) + eps));
  map_row(n, [&](std::int64_t i, int count) {
    Vec v = (load_n(x + i, count) - mean) * f;
    if (weight != nullptr) v = v * load_n(weight + i, count);
    if (bias != nullptr) v = v + load_n(bias + i, count);
    store_n(v, out + i, count);
  });
}

void row_silu(const float* gate, const float* up, std::int64_t n, float* out) {
  map_row(n, [&](std::int64_t i, int count) {
    const Vec g = load_n(gate + i, count);
    Vec v = g / (Vec::set(1) + exp_of(Vec::zero() - g));
    if (up != nullptr) v = v * load_n(up + i, count);
    store_n(v, out + i, count);
  });
}

// x/2 * (1 + tanh(u)) = x / (1 + exp(-2u)), u = sqrt(2/pi) * (x + 0.044715 x^3)
void row_gelu_tanh(const float* gate, const float* up, std::int64_t n, float* out) {
  map_row(n, [&](std::int64_t i, int count) {
    const Vec g = load_n(gate + i, count);
    const Vec inner = Vec::fma(g * g * g, Vec::set(0.044715f), g);
    Vec v = g / (Vec::set(1) + exp_of(inner * Vec::set(-1.5957691216057308f)));
    if (up != nullptr) v = v * load_n(up + i, count);
    store_n(v, out + i, count);
  });
}

void row_clamped_swiglu(const float* gate, const float* up, std::int64_t n, float* out) {
  const Vec limit = Vec::set(7), one = Vec::set(1);
  map_row(n, [&](std::int64_t i, int count) {
    const Vec g = Vec::min(limit, load_n(gate + i, count));
    Vec v = g / (one + exp_of(g * Vec::set(-1.702f)));
    if (up != nullptr)
      v = v * (Vec::min(limit, Vec::max(Vec::set(-7), load_n(up + i, count))) + one);
    store_n(v, out + i, count);
  });
}

void row_softcap(float* x, float cap, std::int64_t n) {
  const Vec c = Vec::set(cap);
  map_row(n, [&](std::int64_t i, int count) {
    store_n(c * tanh_of(load_n(x + i, count) / c), x + i, count);
  });
}

void row_rope(float* x, int half, const float* cos, const float* sin) {
  map_row(half, [&](std::int64_t i, int count) {
    const Vec a = load_n(x + i, count), b = load_n(x + half + i, count);
    const Vec c = load_n(cos + i, count), s = load_n(sin + i, count);
    store_n(a * c - b * s, x + i, count);
    store_n(b * c + a * s, x + half + i, count);
  });
}

void row_add(float* x, const float* y, std::int64_t n) {
  map_row(n, [&](std::int64_t i, int count) {
    store_n(load_n(x + i, count) + load_n(y + i, count), x + i, count);
  });
}

void row_scale(float* x, float factor, std::int64_t n) {
  const Vec f = Vec::set(factor);
  map_row(n, [&](std::int64_t i, int count) { store_n(load_n(x + i, count) * f, x + i, count); });
}

void row_subtract(const float* x, float y, std::int64_t n, float* out) {
  const Vec v = Vec::set(y);
  map_row(n, [&](std::int64_t i, int count) { store_n(load_n(x + i, count) - v, out + i, count); });
}

}  // namespace
}  // namespace triescope::kernels

// exp of a vector, within 2 ulp on [-87.3, 88]; below that 0, above it exp(88); NaN stays.
// Cody-Waite reduction, then the polynomial of Cephes' expf (S. Moshier).
#pragma once

namespace triescope::kernels {
namespace {

inline Vec exp_of(Vec x) {
  const Vec low = Vec::set(-87.3365448f);  // log of the smallest normal float
  const Vec t = Vec::min(Vec::set(88.0f), Vec::max(low, x));
  const Vec n = Vec::round(t * Vec::set(1.44269504088896341f));
  Vec r = Vec::fma(n, Vec::set(-0.693359375f), t);
  r = Vec::fma(n, Vec::set(2.12194440e-4f), r);
  Vec p = Vec::set(1.9875691500e-4f);
  p = Vec::fma(p, r, Vec::set(1.3981999507e-3f));
  p = Vec::fma(p, r, Vec::set(8.3334519073e-3f));
  p = Vec::fma(p, r, Vec::set(4.1665795894e-2f));
  p = Vec::fma(p, r, Vec::set(1.6666665459e-1f));
  p = Vec::fma(p, r, Vec::set(5.0000001201e-1f));
  p = Vec::fma(p, r * r, r) + Vec::set(1.0f);
  return Vec::zero_where_less(x, low, Vec::scale_pow2(p, n));
}

// Within 1e-7 absolute.
inline Vec tanh_of(Vec x) {
  const Vec e = exp_of(x + x);
  return Vec::set(1) - Vec::set(2) / (e + Vec::set(1));
}

// f over x[0..n): whole vectors, then the rest through one padded vector.
template <class F>
inline void map_row(std::int64_t n, F f) {
  std::int64_t i = 0;
  for (; i + Vec::kLanes <= n; i += Vec::kLanes) f(i, Vec::kLanes);
  if (i < n) f(i, static_cast<int>(n - i));
}
inline Vec load_n(const float* p, int n, float fill = 0) {
  return n == Vec::kLanes ? Vec::load(p) : Vec::load_part(p, n, fill);
}
inline void store_n(Vec v, float* p, int n) { n == Vec::kLanes ? v.store(p) : v.store_part(p, n); }

}  // namespace
}  // namespace triescope::kernels

// exp of a vector, within 2 ulp on [-87.3, 88]; below it 0, above it exp(88); a NaN stays one.
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

// tanh of a vector, within 4 ulp; a NaN stays one. Cephes' tanhf: near zero it uses the odd
// polynomial, because 1 - 2 / (exp(2x) + 1) cancels there (a softcap multiplies the error by its
// cap).
inline Vec tanh_of(Vec x) {
  constexpr float kNear = 0.625f, kBelowNear = 0.62499994f;  // neighbours: one branch or the other
  const Vec size = Vec::max(x, Vec::zero() - x);
  const Vec far = Vec::set(1) - Vec::set(2) / (exp_of(x + x) + Vec::set(1));
  const Vec z = x * x;
  Vec p = Vec::set(-5.70498872745e-3f);
  p = Vec::fma(p, z, Vec::set(2.06390887954e-2f));
  p = Vec::fma(p, z, Vec::set(-5.37397155531e-2f));
  p = Vec::fma(p, z, Vec::set(1.33314422036e-1f));
  p = Vec::fma(p, z, Vec::set(-3.33332819422e-1f));
  const Vec near = Vec::fma(p * z, x, x);
  return Vec::zero_where_less(size, Vec::set(kNear), far) +
         Vec::zero_where_less(Vec::set(kBelowNear), size, near);
}

// Applies f to x[0..n): whole vectors, then the rest in one padded vector.
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

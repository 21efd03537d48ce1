// Weights of the types without a minimum: scale * (code - 2^(Bits - 1)), where words hold codes of
// Bits bits at a distance of Step bits, the first at bit At.
//
// A code in bits [at, at + Bits) of the mantissa of a float with the exponent of 2^(23 - at) is the
// number 2^(23 - at) + code (V::above_power). One fused operation therefore gives the weight,
// without a shift or a difference before it:
//
//   scale * (2^(23 - at) + code) - scale * (2^(23 - at) + 2^(Bits - 1))
//
// Nothing is rounded, just as in the product of formats::dequantise, provided that the subtrahend
// is an fp32 number: its factors have ScaleBits and 25 - at - Bits significant bits, together at
// most 24. Codes below bit kFrom are shifted up, and those that reach beyond the mantissa down,
// kCount of them by the same shift; kCount subtrahends are kept in registers.
//
// A weight of zero becomes +0 this way, while the product has the sign of the scale. No sum of x *
// w shows the difference: it begins at +0, and adding a zero of either sign does not change it
// (except where products underflow). Zeros::kSigned subtracts before it multiplies, for callers
// that read the weights themselves and for processors without fused operations.
#pragma once

#include <type_traits>

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

template <class V, int Bits, int ScaleBits, int At, int Step, Zeros kZeros>
class ScaledCodes {
 public:
  ScaledCodes() = default;
  explicit ScaledCodes(V scale) : scale_(scale) {
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i) {
      const V number = V::set(static_cast<float>((1 << (23 - place(i))) + (1 << (Bits - 1))));
      less_[i] = kFused ? scale * number : number;
    }
  }

  // The weight of the code at the constant bit `at` of each word.
  V operator()(typename V::Codes word, int at) const {
    const int i = place_of(at), down = at - place(i);
    return weight(down < 0 ? word << -down : word >> down, i);
  }

 private:
  static constexpr bool kFused = kZeros == Zeros::kAny && V::kFused;
  static constexpr int kFrom = 1 + ScaleBits - Bits, kTo = 23 - Bits;
  static constexpr int kFirst = At + (kFrom - At + Step - 1) / Step * Step;
  static constexpr int kAll = (kTo - kFirst) / Step + 1;
  static constexpr int kCount = kAll < V::kScaledPlaces ? kAll : V::kScaledPlaces;
  static_assert(kFrom >= At && kFirst <= kTo);
  // Where a group's codes begin, and which place serves the code at bit `at`.
  static constexpr int place(int i) { return kFirst + i * Step; }
  static constexpr int place_of(int at) {
    constexpr int kGroup = kCount * Step;
    return (at - kFirst + 32 * kGroup) % kGroup / Step;
  }

  V weight(typename V::Codes word, int i) const {
    const V number = V::template above_power<Bits>(word, place(i));
    return kFused ? V::fms(scale_, number, less_[i]) : scale_ * (number - less_[i]);
  }

  V scale_, less_[kCount];
};

// Weights of the types with a minimum, where words hold codes of Bits bits one after another: by
// converting codes where they are. A code at bit `at` is the whole number code * 2^at, which has Bits
// significant bits, and scale * 2^-at times it is the exact product scale * code: scales are products
// of an fp16 number and a small whole one, so that nothing underflows. Without AVX-512's logical
// operations this takes one operation less than V::Small (a Zen 4 core, AVX2: Q4_1 and Q5_1 0.76 and
// 0.63 of the time with one row, 0.86 and 0.89 with eight). Two places keep their scale; one shift
// brings two codes there.
template <class V, int Bits>
class ConvertedCodes {
 public:
  ConvertedCodes() = default;
  explicit ConvertedCodes(V scale)
      : scale_{scale, scale * V::set(1.0f / static_cast<float>(1 << Bits))} {}

  // scale * code + add, or - less, of the code at the constant bit `at` of words, or of the words in
  // memory to which `codes` points.
  template <class Codes>
  V plus(Codes codes, int at, V add) const {
    return V::fma(scale_[place(at)], number(codes, at), add);
  }
  template <class Codes>
  V minus(Codes codes, int at, V less) const {
    return V::fms(scale_[place(at)], number(codes, at), less);
  }

 private:
  // Where a code is after its shift: at bit 0 or Bits.
  static int place(int at) { return at % Bits == 0 && at + Bits < 32 ? at / Bits % 2 : 0; }
  static V number(typename V::Codes word, int at) {
    const int bit = place(at) * Bits;
    const typename V::Codes moved = word >> (at - bit);
    // The highest code has nothing above it.
    return V::number(at + Bits == 32 ? moved : moved & (((1u << Bits) - 1u) << bit));
  }
  static V number(const std::uint32_t* codes, int at) { return number(V::codes(codes), at); }

  V scale_[2];
};
template <class V, Decoding kHow>
constexpr bool converts() {
  return V::kConverts && kHow.zeros == Zeros::kAny;
}

// The same weights by V::Small.
template <class V, int Bits, Decoding kHow>
class SmallCodes {
 public:
  SmallCodes() = default;
  explicit SmallCodes(V scale) : scale_(scale) {}

  template <class Codes>
  V plus(Codes codes, int at, V add) const {
    return V::fma(scale_, number(codes, at), add);
  }
  template <class Codes>
  V minus(Codes codes, int at, V less) const {
    return V::fms(scale_, number(codes, at), less);
  }

 private:
  V number(typename V::Codes word, int at) const { return numbers_(word, at); }
  V number(const std::uint32_t* codes, int at) const {
    return numbers_.template of<kHow.loads>(codes, at);
  }

  V scale_;
  typename V::template Small<Bits, kHow.fives> numbers_;
};

// One of the two, as V and kHow say.
template <class V, int Bits, Decoding kHow>
using CodesBesideMinimum =
    std::conditional_t<converts<V, kHow>(), ConvertedCodes<V, Bits>, SmallCodes<V, Bits, kHow>>;

// The same weights for Bits <= 5, as a product with the code less its offset, which is looked up.
// There may be one more bit above a code of 3 bits.
template <class V, int Bits>
class LookedUpCodes {
 public:
  LookedUpCodes() = default;
  explicit LookedUpCodes(V scale) : scale_(scale) {}

  V operator()(typename V::Codes word, int at) const {
    if constexpr (Bits > 4) {
      return scale_ * table_(word, at);
    } else {
      return scale_ * table_(word >> at);
    }
  }

 private:
  static auto table() {
    constexpr int kOffset = -(1 << (Bits - 1));
    if constexpr (Bits > 4) {
      return typename V::HalfLookup(V::template kUpperHalves<Bits, kOffset>.values);
    } else {
      return typename V::Lookup(V::template kNumbers<Bits, 0, kOffset>.values);
    }
  }

  V scale_;
  std::conditional_t<(Bits > 4), typename V::HalfLookup, typename V::Lookup> table_ = table();
};

// One of the two, as kHow says. The template parameters are those of ScaledCodes.
template <class V, int Bits, int ScaleBits, int At, int Step, Decoding kHow>
using SignedWeights = std::conditional_t<kHow.offsets == Offsets::kLookedUp, LookedUpCodes<V, Bits>,
                                         ScaledCodes<V, Bits, ScaleBits, At, Step, kHow.zeros>>;

}  // namespace
}  // namespace triescope::kernels

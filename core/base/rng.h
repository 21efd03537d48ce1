// Seeded random numbers: the same seed gives the same draws on every platform. Not thread-safe;
// every run owns one. Source: splitmix64 seeding, xoshiro256** (Blackman and Vigna, 2018).
#pragma once

#include <cstdint>

namespace triescope {

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t next();
  // Uniform on the open interval (0, 1): never 0 and never 1, so log(u) and log(1-u) are finite.
  double uniform();
  // Standard Gumbel noise, -log(-log(u)).
  double gumbel();

 private:
  std::uint64_t state_[4];
};

}  // namespace triescope

#include "core/kernels/machine_limits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/timing.h"
#include "core/kernels/buffer.h"

namespace triescope::kernels {
namespace {

// Runs `rounds` steps of 16 chains of fused multiply-adds that do not wait for each other. Returns
// a value that depends on all of them.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] float chains_avx512(std::int64_t rounds) {
  __m512 chain[16];
  for (__m512& c : chain) c = _mm512_set1_ps(1.0f);
  const __m512 x = _mm512_set1_ps(0.99f), y = _mm512_set1_ps(0.01f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (__m512& c : chain) c = _mm512_fmadd_ps(c, x, y);
  }
  float sum = 0;
  for (const __m512& c : chain) sum += _mm512_cvtss_f32(c);
  return sum;
}

[[gnu::target("avx2,fma")]] float chains_avx2(std::int64_t rounds) {
  __m256 chain[12];  // 16 registers in all
  for (__m256& c : chain) c = _mm256_set1_ps(1.0f);
  const __m256 x = _mm256_set1_ps(0.99f), y = _mm256_set1_ps(0.01f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (__m256& c : chain) c = _mm256_fmadd_ps(c, x, y);
  }
  float sum = 0;
  for (const __m256& c : chain) sum += _mm256_cvtss_f32(c);
  return sum;
}
#endif

float chains_portable(std::int64_t rounds) {
  using Four [[gnu::vector_size(16)]] = float;
  Four chain[12];
  for (Four& c : chain) c = Four{1, 1, 1, 1};
  const Four x = {0.99f, 0.99f, 0.99f, 0.99f}, y = {0.01f, 0.01f, 0.01f, 0.01f};
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (Four& c : chain) c = c * x + y;
  }
  float sum = 0;
  for (const Four& c : chain) sum += c[0];
  return sum;
}

}  // namespace

double read_bandwidth(ThreadPool& pool) {
  using Words [[gnu::vector_size(64)]] = std::uint64_t;
  constexpr std::int64_t kLines = std::int64_t{2} << 20;
  const Buffer memory(static_cast<std::size_t>(kLines) * sizeof(Words));
  std::memset(memory.as<void>(), 1, memory.bytes());
  const auto* lines = memory.as<const Words>();
  std::vector<Words> found(static_cast<std::size_t>(pool.size()));
  // Unless `ahead` is 0, the lines that far ahead of the read ones are fetched: which of the two is
  // faster depends on the processor.
  const auto read = [&](std::int64_t ahead) {
    return shortest(40, [&] {
      pool.for_ranges(kLines, [&](std::int64_t begin, std::int64_t end, int worker) {
        Words a{}, b{};
        for (std::int64_t i = begin; i + 1 < end; i += 2) {
          if (ahead > 0) {
            __builtin_prefetch(lines + i + ahead);
            __builtin_prefetch(lines + i + ahead + 1);
          }
          a |= lines[i];
          b |= lines[i + 1];
        }
        found[static_cast<std::size_t>(worker)] = a | b;
      });
    });
  };
  const double time = std::min(read(0), read(32));
  volatile std::uint64_t used = found[0][0];
  (void)used;
  return static_cast<double>(memory.bytes()) / time;
}

double multiply_adds(ThreadPool& pool, CpuVariant variant) {
  float (*chains)(std::int64_t) = chains_portable;
  double numbers = 12 * 4;
#if defined(__x86_64__)
  if (variant == CpuVariant::kAvx512 || variant == CpuVariant::kAvx512Intel)
    chains = chains_avx512, numbers = 16 * 16;
  if (variant == CpuVariant::kAvx2) chains = chains_avx2, numbers = 12 * 8;
#endif
  constexpr std::int64_t kRounds = 100'000;
  std::vector<float> found(static_cast<std::size_t>(pool.size()));
  const double time = shortest(200, [&] {
    pool.for_ranges(pool.size(), [&](std::int64_t, std::int64_t, int worker) {
      found[static_cast<std::size_t>(worker)] = chains(kRounds);
    });
  });
  volatile float used = found[0];
  (void)used;
  return numbers * kRounds * pool.size() / time;
}

}  // namespace triescope::kernels

// Ways to compute the same numbers, equal to the last bit. The best one depends on the processor,
// and on what the numbers are for.
#pragma once

#include <cstdint>

namespace triescope::kernels {
namespace {

// How a number of x meets the vectors of weights. Either each multiply-add reads it from memory and
// spreads it over its lanes, which costs nothing extra on AMD's processors, or it is spread once,
// into a register. Intel's processors read as many vectors a cycle as they multiply, so another
// read is not free (14 rows of fp32 from the cache, a core of Sapphire Rapids: 7.2 instead of 8.3
// cycles a vector of weights).
enum class Spread : std::uint8_t { kEachTime, kOnce };

// The sign of a zero weight: that of formats::dequantise, or any.
enum class Zeros : std::uint8_t { kSigned, kAny };

// Either the codes of a word move to its lowest bits by shifts, or each is loaded from the byte in
// which it begins and shifted by the rest. Such loads cross cache lines and pay on Intel's
// processors, which load as much as they compute (Q4_K, a core of Sapphire Rapids, 1 to 3 rows: 6
// to 12 % less time). AMD's load one vector of 64 bytes a cycle, and x needs loads too.
enum class CodeLoads : std::uint8_t { kOnce, kEach };

// How a code of 3 to 5 bits, less its offset, becomes a weight: by a fused operation on the code in
// its place (ScaledCodes), or by looking up the difference and multiplying (LookedUpCodes). The
// first takes a logical operation, for which Intel's processors have units to spare; on AMD's these
// are the multiply-adds' own (two Zen 4 cores, looked up: Q4_0 0.78 of the time with one row, 0.93
// with 2 to 4; Q5_0 0.79 and 0.93, Q3_K 0.94 and 0.88).
enum class Offsets : std::uint8_t { kFused, kLookedUp };

// How a number of 5 bits is looked up: among 32 fp32 numbers, which fill two registers, or among
// their upper halves, which fill one. The first reads three registers, as multiply-adds do, and
// AMD's processors hardly begin more than one such operation a cycle (two Zen 4 cores, halves: Q5_1
// and Q5_K 0.84 and 0.86 of the time with one row, 0.82 to 0.84 with two, 0.94 with nine; Q5_0
// 0.98, 0.98 and 1.0). Not measured on Intel's.
enum class Fives : std::uint8_t { kOfTwoRegisters, kOfHalves };

// How a tile finds its rows of x. kByFives: an address is a register plus 0, 1 or 2 times another,
// so that five rows need three registers (base, base + 2 strides, stride) and 14 rows seven. Left
// alone, compilers keep a register for each row and fetch half of them from the stack at every k.
// kByFives pays on Intel's processors (256 rows of 3072 x 576 fp32, two Sapphire Rapids cores: 80
// instead of 75 % of the multiply-adds' limit), not on AMD's (8 and 12 rows of fp32, two Zen 4
// cores: 1.08 of the time).
enum class Addresses : std::uint8_t { kAsCompiled, kByFives };

// The tuning for one family of processors. The defaults are for AVX2 and portable code.
struct Tuning {
  Spread spread = Spread::kEachTime;
  CodeLoads loads = CodeLoads::kOnce;
  Offsets offsets = Offsets::kFused;
  Fives fives = Fives::kOfTwoRegisters;
  Addresses addresses = Addresses::kByFives;
  // Rows of blocks go through two panels side by side, for as many rows as Block::kPairRows says.
  // AMD's processors read one panel faster (two Zen 4 cores, one row: Q4_1 0.86 of the time).
  bool pairs = false;
  // Weights that several tiles of rows use are converted to fp32 once for all. 16-bit weights: Zen
  // 4 loads and widens them as fast as it loads fp32 (16 rows so: 1.1 of the time). Blocks: on Zen
  // 4 it still pays that each of two tiles decodes them for itself, 17 to 28 rows (0.93 to 1.03 of
  // the time); on Sapphire Rapids it does not (24 rows decoded once: Q4_1 0.88, Q4_K 0.92, Q8_0
  // 0.86).
  bool widen_once = true, decode_once = false;
  // fp32 weights are fetched ahead even for fewer than six rows. AMD's own prefetcher is better
  // there (two Zen 4 cores, 1 to 5 rows with it: 1.03 to 1.1 of the time).
  bool fetch_few = true;
  // K and V that attention reads are fetched ahead into the second-level cache: the hardware's
  // prefetcher does not follow rows of a head, and fetching into the first level gained nothing
  // (two Zen 4 cores, one row, 1024 slots: 0.45 of the time, 4096 slots 0.61; AVX2 there, 0.6). Not
  // measured on Intel's.
  bool fetch_kv = true;
};

// The order of sixteen bytes of a file's block in the words from which a panel's codes are made
// (FileBlocks).
enum class ByteOrder : std::uint8_t { kAsStored, kPairs, kFours };
// The byte for each place.
constexpr unsigned char kPlaces[][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15},
    {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
};

struct Decoding {
  Zeros zeros;
  CodeLoads loads;
  Offsets offsets;
  Fives fives;
};

}  // namespace
}  // namespace triescope::kernels

// A 64-bit hash that finds damage and tells files apart. It does not withstand an attacker.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace triescope {

// Four bytes at a time, like FNV-1a with a rotation; the rest byte by byte. Pieces of a multiple of four bytes
// may be hashed one after the other: the hash of the first is the `seed` of the second.
inline std::uint64_t hash_bytes(std::span<const std::byte> bytes,
                                std::uint64_t seed = 0xCBF29CE484222325) {
  std::uint64_t hash = seed;
  const auto add = [&](std::uint64_t value) {
    hash = std::rotl((hash ^ value) * 0x100000001B3, 29);
  };
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, 4);
    add(word);
  }
  for (; at < bytes.size(); ++at) add(std::to_integer<std::uint64_t>(bytes[at]) + 0x100);
  return hash;
}

}  // namespace triescope

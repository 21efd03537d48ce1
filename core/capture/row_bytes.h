// The bytes of a piece of rows (row_stream.h): for each table its name and the names of its columns,
// then its rows, each a number of its own and its values, then 0. A value is a byte for its kind and
// what follows from it. Reading trusts nothing: Error{kCorruption} says what was expected.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace triescope::capture {

enum class ValueKind : std::uint8_t { kNull, kInteger, kNumber, kText, kBytes };

// Fewer than what SQLite keeps in one value, and no capture has longer ones.
inline constexpr std::size_t kMaxValueSize = std::size_t{64} << 20;

class ByteWriter {
 public:
  std::string bytes;

  void byte(std::uint8_t value) { bytes.push_back(static_cast<char>(value)); }
  // Seven bits a byte, the lowest first.
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7) byte(static_cast<std::uint8_t>(value | 128));
    byte(static_cast<std::uint8_t>(value));
  }
  // Near 0 on either side it is short.
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes.append(value);
  }
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) fail("it ends too early");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 127u} << shift;
      if (next < 128) return value;
    }
    fail("a number of more than 64 bits");
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  double real() {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8) bits |= std::uint64_t{byte()} << shift;
    return std::bit_cast<double>(bits);
  }
  std::string_view text(std::size_t most = kMaxValueSize) {
    const std::uint64_t size = number();
    if (size > most)
      fail("a text of " + std::to_string(size) + " bytes, expected " + std::to_string(most) +
           " at most");
    if (size > rest_.size()) fail("it ends within a text");
    const std::string_view value = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return value;
  }

  [[noreturn]] static void fail(const std::string& what) {
    throw Error(ErrorCode::kCorruption, "rows from another machine: damaged: " + what);
  }

 private:
  std::string_view rest_;
};

}  // namespace triescope::capture

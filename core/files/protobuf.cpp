#include "core/files/protobuf.h"

#include <bit>

#include "core/base/error.h"

namespace triescope::formats {

ProtobufReader::ProtobufReader(std::string_view message, std::string name)
    : rest_(message), name_(std::move(name)) {}

void ProtobufReader::fail(const std::string& what) const {
  throw Error(ErrorCode::kCorruption, name_ + ": " + what);
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  fail("expected a number of at most 10 bytes, found a longer one");
}

std::string_view ProtobufReader::take(std::uint64_t size) {
  if (size > rest_.size())
    fail("field " + std::to_string(field_) + ": expected " + std::to_string(size) +
         " more bytes, found " + std::to_string(rest_.size()));
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

bool ProtobufReader::next() {
  if (rest_.empty()) return false;
  const std::uint64_t tag = varint();
  field_ = static_cast<std::uint32_t>(tag >> 3);
  if (field_ == 0 || tag >> 32 != 0)
    fail("expected a protobuf field, found the tag " + std::to_string(tag));
  kind_ = static_cast<Kind>(tag & 7);
  switch (kind_) {
    case Kind::kInteger:
      integer_ = varint();
      return true;
    case Kind::k64Bits:
      bytes_ = take(8);
      return true;
    case Kind::kBytes:
      bytes_ = take(varint());
      return true;
    case Kind::k32Bits:
      bytes_ = take(4);
      return true;
  }
  fail("field " + std::to_string(field_) +
       ": expected a known kind of protobuf field, found kind " + std::to_string(tag & 7));
}

void ProtobufReader::expect(Kind kind, const char* what) const {
  if (kind_ != kind)
    fail("field " + std::to_string(field_) + ": expected " + what +
         ", found another kind of field");
}

std::int64_t ProtobufReader::integer() const {
  expect(Kind::kInteger, "an integer");
  return static_cast<std::int64_t>(integer_);
}

float ProtobufReader::number() const {
  expect(Kind::k32Bits, "a number of 32 bits");
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[i])) << 8 * i;
  return std::bit_cast<float>(bits);
}

std::string_view ProtobufReader::bytes() const {
  expect(Kind::kBytes, "a text or a message");
  return bytes_;
}

}  // namespace triescope::formats

// Reads protobuf's wire format from untrusted bytes, field by field. No copies: texts are views of
// the message. Source: protobuf's documentation, "Encoding".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace triescope::formats {

class ProtobufReader {
 public:
  // `name` is for messages.
  ProtobufReader(std::string_view message, std::string name);

  // Goes to the next field and reads it; false at the end. Error{kCorruption}: a field that is cut
  // short, of number 0, or of an unknown kind.
  bool next();
  std::uint32_t field() const { return field_; }
  // What the field holds. Error{kCorruption}: it is of another kind.
  std::int64_t integer() const;    // int32, enumerations, booleans
  float number() const;            // float
  std::string_view bytes() const;  // texts and messages

 private:
  enum class Kind : std::uint8_t { kInteger = 0, k64Bits = 1, kBytes = 2, k32Bits = 5 };
  [[noreturn]] void fail(const std::string& what) const;
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);
  void expect(Kind kind, const char* what) const;

  std::string_view rest_;
  std::string name_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::kInteger;
  std::uint64_t integer_ = 0;
  std::string_view bytes_;
};

}  // namespace triescope::formats

#include "app/remote/wire.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/files/cbor.h"

namespace triescope::app {
namespace {

constexpr std::size_t kFrameHead = 5;  // bytes before the payload
constexpr std::size_t kMaxQuoted = 200;

[[noreturn]] void refuse_bytes(const std::string& what) {
  throw Error(ErrorCode::kCorruption, "the other end of the line: " + what);
}

// The bytes that came instead of an opening, as they can be shown.
std::string quoted_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, kMaxQuoted))
    text += (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
  return text;
}

}  // namespace

std::string frame_bytes(FrameKind kind, std::string_view payload) {
  if (payload.size() > most_bytes(kind))
    throw Error(ErrorCode::kInvalidArgument,
                "to the other machine: expected at most " + std::to_string(most_bytes(kind)) +
                    " bytes at once, found " + std::to_string(payload.size()) +
                    "; take a shorter prompt");
  std::string bytes;
  bytes.reserve(kFrameHead + payload.size());
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>((payload.size() >> shift) & 255));
  bytes.push_back(static_cast<char>(kind));
  bytes.append(payload);
  return bytes;
}

std::string message_bytes(FrameKind kind, const nlohmann::json& message) {
  std::string payload;
  nlohmann::json::to_cbor(message, payload);
  return frame_bytes(kind, payload);
}

std::string plain_text(std::string_view text, std::size_t most_bytes) {
  const bool cut = text.size() > most_bytes;
  std::string plain;
  text = text.substr(0, most_bytes);
  for (std::size_t at = 0, step; at < text.size(); at += step) {
    step = utf8_step(text, at);
    const char32_t code = decode_utf8(text, at);
    const bool obeyed =
        (code < ' ' && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
    if (obeyed)
      plain += '?';
    else
      append_utf8(plain, code);
  }
  return cut ? plain + " …" : plain;
}

nlohmann::json read_message(std::string_view payload) {
  nlohmann::json message = formats::parse_cbor(payload, "the other end of the line");
  if (!message.is_object()) refuse_bytes("expected a message with named fields");
  return message;
}

std::optional<Frame> FrameReader::next() {
  std::string_view rest = std::string_view(bytes_).substr(read_);
  if (!opened_) {
    const std::size_t there = std::min(rest.size(), kOpening.size());
    if (rest.substr(0, there) != kOpening.substr(0, there))
      refuse_bytes("expected triescope's greeting, found: " + quoted_bytes(rest));
    if (there < kOpening.size()) return {};
    opened_ = true;
    read_ += kOpening.size();
    rest.remove_prefix(kOpening.size());
  }
  if (rest.size() < kFrameHead) return {};
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::size_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  const auto kind = static_cast<FrameKind>(rest[4]);
  const std::size_t most = most_bytes(kind);
  if (most == 0)
    refuse_bytes("a frame of unknown kind " + std::to_string(static_cast<int>(rest[4])));
  if (size > most)
    refuse_bytes("a frame of " + std::to_string(size) + " bytes, expected " + std::to_string(most) +
                 " at most");
  if (rest.size() < kFrameHead + size) return {};
  Frame frame{kind, std::string(rest.substr(kFrameHead, size))};
  read_ += kFrameHead + size;
  // Bytes that were read go once they are half of those kept: each is moved about once.
  if (read_ * 2 >= bytes_.size()) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return frame;
}

}  // namespace triescope::app

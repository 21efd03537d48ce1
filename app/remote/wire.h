// Frames: what goes over a line between a window and the machine that decodes for it. Each end first
// sends kOpening, so that a shell that prints something is told from the program. A frame is its
// payload's length (4 bytes, lowest first), a byte for its kind, and the payload. Either end treats
// the other as untrusted. Nothing here reads or writes; thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace triescope::app {

// Another number at the other end ends the line: both are named.
inline constexpr int kProtocol = 1;
inline constexpr std::string_view kOpening = "triescope remote\n";

enum class FrameKind : std::uint8_t {
  kGreeting = 1,  // the first of each end: CBOR
  kMessage,       // CBOR (messages.h)
  kRows,          // rows of a capture (core/capture/row_stream.h)
};

struct Frame {
  FrameKind kind = FrameKind::kMessage;
  std::string payload;
};

// The longest payload of a kind, in bytes.
constexpr std::size_t most_bytes(FrameKind kind) {
  switch (kind) {
    case FrameKind::kGreeting:
      return std::size_t{64} << 10;
    case FrameKind::kMessage:
      return std::size_t{16} << 20;
    case FrameKind::kRows:
      return std::size_t{80} << 20;
  }
  return 0;
}

// Error{kInvalidArgument}: the payload is longer than its kind may be.
std::string frame_bytes(FrameKind kind, std::string_view payload);
std::string message_bytes(FrameKind kind, const nlohmann::json& message);
// Words of the other end as they may be shown: at most `most_bytes`, valid UTF-8, '?' in the place of
// what a terminal would obey.
std::string plain_text(std::string_view text, std::size_t most_bytes);
// A payload's CBOR. Error{kCorruption}: not an object, or beyond the limits of core/files/cbor.h.
nlohmann::json read_message(std::string_view payload);

// Cuts bytes, as they come, into frames.
class FrameReader {
 public:
  void push(std::string_view bytes) { bytes_.append(bytes); }
  // The next whole frame, if it is there. Error{kCorruption}: the other end does not begin with
  // kOpening (the message quotes what came instead), an unknown kind, or a frame that is too long.
  std::optional<Frame> next();

 private:
  std::string bytes_;
  std::size_t read_ = 0;
  bool opened_ = false;
};

}  // namespace triescope::app

// base64 (RFC 4648). No state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace triescope {

// The bytes that the text stands for; nullopt: a character that base64 does not have.
std::optional<std::string> from_base64(std::string_view text);
// The text that stands for the bytes, padded with '='.
std::string to_base64(std::string_view bytes);

}  // namespace triescope

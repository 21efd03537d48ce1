// Reads CBOR (RFC 8949) from untrusted sources, within the limits of json.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace triescope::formats {

// `name` is for the message. Error{kCorruption}: not CBOR or more than one value, nested deeper than
// 64, more than 4 million values, or a key twice.
nlohmann::json parse_cbor(std::string_view bytes, const std::string& name);

}  // namespace triescope::formats

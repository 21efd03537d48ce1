// Reads JSON from untrusted files: depth, number of values and size are limited, and a repeated key
// is an error. Infinity, -Infinity and NaN are numbers, because Python's json writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/files/input_file.h"

namespace triescope::formats {

inline constexpr std::uint64_t kMaxConfigBytes = 4u << 20;  // of a model's config.json

// `name` is for the message. Error{kCorruption}: not JSON, nested deeper than 64, more than 4
// million values, or a key twice.
nlohmann::json parse_json(std::string_view text, const std::string& name);
// The same, and an object keeps the order of its keys, of which it may have 10,000.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name);
// Reads a whole file of at most max_bytes.
nlohmann::json read_json_file(const std::string& path, std::uint64_t max_bytes);

}  // namespace triescope::formats

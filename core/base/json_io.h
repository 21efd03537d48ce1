// JSON text read and written in one place: nlohmann's parser and its serialiser are templates, which every file that calls them
// compiles anew. A file of a user's goes through core/files/json, which limits what it may hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace triescope {

// The value of a text; a discarded one (is_discarded()) where it is not JSON.
nlohmann::json json_or_discarded(std::string_view text);

// The same, and null where it is not JSON: what a capture of another program may hold.
nlohmann::json json_or_null(std::string_view text);

// A value as text: on one line, or `indent` spaces a level. A prompt may hold bytes that are not UTF-8 and JSON may not: each such
// byte becomes U+FFFD. `ascii` escapes everything beyond ASCII: a text that is cut then stays valid.
std::string dump_json(const nlohmann::json& value, int indent = -1, bool ascii = false);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1, bool ascii = false);

// A value as a reader wants it: a string without its quotes, anything else as JSON.
std::string json_text(const nlohmann::json& value);
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace triescope

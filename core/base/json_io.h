// Reads and writes JSON text in one place. nlohmann's parser and serialiser are templates: each file that calls them compiles them again.
// Untrusted files go through core/files/json, which limits what they may hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace triescope {

// The value of a text; a discarded one (is_discarded()) where it is not JSON.
nlohmann::json json_or_discarded(std::string_view text);

// The same, and null where it is not JSON: what a capture of another program may hold.
nlohmann::json json_or_null(std::string_view text);
nlohmann::ordered_json ordered_json_or_null(std::string_view text);  // keys in the text's order

// A value as text: on one line, or `indent` spaces a level. A prompt may hold bytes that are not UTF-8 and JSON may not: each such
// byte becomes U+FFFD. `ascii` escapes everything beyond ASCII: a text that is cut then stays valid.
std::string dump_json(const nlohmann::json& value, int indent = -1, bool ascii = false);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1, bool ascii = false);

// A value as a reader wants it: a string without its quotes, anything else as JSON.
std::string json_text(const nlohmann::json& value);
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace triescope

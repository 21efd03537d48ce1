// The keys of a JSON object in the order of the file, which nlohmann::json does not keep. New
// tokens get their ids in that order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace triescope::tokenizer {

// Returns the keys of the object that the text is, or, with `within`, of the object that is its
// value of that name; empty if there is no such object. `text` is JSON that formats::parse_json
// accepted.
std::vector<std::string> key_order(std::string_view text, std::string_view within = {});

}  // namespace triescope::tokenizer

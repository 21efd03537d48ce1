// The keys of a JSON object in the order of the file, which nlohmann::json does not keep. New tokens get
// their ids in that order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace triescope::tokenizer {

// Of the object that the text is, or, with `within`, of the one that is its value of that name. `text` is
// JSON that formats::parse_json took; empty where there is no such object.
std::vector<std::string> key_order(std::string_view text, std::string_view within = {});

}  // namespace triescope::tokenizer

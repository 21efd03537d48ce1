#include "viz/handout/json_text.h"

#include <nlohmann/json.hpp>

namespace triescope::viz {

std::string json_text(std::string_view text) {
  using nlohmann::json;
  const std::string plain =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string out;
  out.reserve(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '<') {
      out += "\\u003c";
    } else if (plain.compare(i, 3, "\xE2\x80\xA8") == 0 ||
               plain.compare(i, 3, "\xE2\x80\xA9") == 0) {
      out += plain[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += plain[i];
    }
  }
  return out;
}

}  // namespace triescope::viz

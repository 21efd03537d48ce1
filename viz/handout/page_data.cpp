#include "viz/handout/page_data.h"

#include <glib.h>
#include <zlib.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope::viz {

std::string script_string(std::string_view text) {
  using nlohmann::json;
  const std::string plain = dump_json(json(std::string(text)));
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

std::string packed_data(std::string_view data) {
  uLongf size = compressBound(data.size());
  std::vector<Bytef> bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw Error(ErrorCode::kOutOfMemory, "the page's data cannot be compressed: out of memory");
  const std::unique_ptr<gchar, decltype(&g_free)> text(g_base64_encode(bytes.data(), size),
                                                       &g_free);
  return text.get();
}

}  // namespace triescope::viz

#include "viz/handout/packed_data.h"

#include <glib.h>
#include <zlib.h>

#include <memory>
#include <vector>

#include "core/base/error.h"

namespace triescope::viz {

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

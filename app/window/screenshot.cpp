#include "app/window/screenshot.h"

#include <GL/gl.h>
#include <cairo.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"

namespace triescope::app {

void write_screenshot(const std::string& path, int width_px, int height_px) {
  // BGRA is Cairo's RGB24 on little-endian machines. OpenGL's rows run from the bottom up.
  const auto stride = static_cast<std::size_t>(width_px) * 4;
  std::vector<unsigned char> pixels(stride * static_cast<std::size_t>(height_px)),
      flipped(pixels.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width_px, height_px, GL_BGRA, GL_UNSIGNED_BYTE, pixels.data());
  for (int y = 0; y < height_px; ++y)
    std::copy_n(
        pixels.begin() +
            static_cast<std::ptrdiff_t>(stride * static_cast<std::size_t>(height_px - 1 - y)),
        stride,
        flipped.begin() + static_cast<std::ptrdiff_t>(stride * static_cast<std::size_t>(y)));
  cairo_surface_t* surface = cairo_image_surface_create_for_data(
      flipped.data(), CAIRO_FORMAT_RGB24, width_px, height_px, static_cast<int>(stride));
  const cairo_status_t status = cairo_surface_write_to_png(surface, path.c_str());
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(ErrorCode::kIoError, path + ": the screenshot cannot be written (" +
                                         cairo_status_to_string(status) + ")");
}

}  // namespace triescope::app

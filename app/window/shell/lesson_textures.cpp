#include "app/window/shell/lesson_textures.h"

#include <GL/gl.h>
#include <cairo.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace triescope::app {
namespace {

struct Reader {
  std::string_view left;
};
cairo_status_t read_png(void* reader, unsigned char* to, unsigned int size) {
  std::string_view& left = static_cast<Reader*>(reader)->left;
  if (left.size() < size) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, left.data(), size);
  left.remove_prefix(size);
  return CAIRO_STATUS_SUCCESS;
}

// RGBA, 8 bits each, not premultiplied, row by row without gaps.
std::vector<unsigned char> pixels_of(const std::string& png, const PictureSize& size) {
  Reader reader{png};
  cairo_surface_t* const surface = cairo_image_surface_create_from_png_stream(read_png, &reader);
  std::vector<unsigned char> pixels;
  const bool right = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS &&
                     cairo_image_surface_get_width(surface) == static_cast<int>(size.width) &&
                     cairo_image_surface_get_height(surface) == static_cast<int>(size.height);
  const cairo_format_t format = cairo_image_surface_get_format(surface);
  if (right && (format == CAIRO_FORMAT_ARGB32 || format == CAIRO_FORMAT_RGB24)) {
    const unsigned char* const data = cairo_image_surface_get_data(surface);
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
    pixels.resize(std::size_t{4} * size.width * size.height);
    for (std::size_t y = 0; y < size.height; ++y)
      for (std::size_t x = 0; x < size.width; ++x) {
        std::uint32_t argb = 0;
        std::memcpy(&argb, data + y * stride + 4 * x, 4);
        const std::uint32_t alpha = format == CAIRO_FORMAT_RGB24 ? 255 : argb >> 24;
        unsigned char* const to = &pixels[4 * (y * size.width + x)];
        for (int i = 0; i < 3; ++i) {
          const std::uint32_t value = argb >> (16 - 8 * i) & 255;
          to[i] = static_cast<unsigned char>(
              alpha == 0 ? 0 : std::min<std::uint32_t>(255, (value * 255 + alpha / 2) / alpha));
        }
        to[3] = static_cast<unsigned char>(alpha);
      }
  }
  cairo_surface_destroy(surface);
  if (pixels.empty()) throw Error(ErrorCode::kCorruption, "the picture cannot be decoded");
  return pixels;
}

LessonTexture load(const LibraryLesson& lesson, const std::string& file) {
  LessonTexture texture;
  try {
    const std::string png = picture_bytes(lesson, file);
    texture.size = picture_size(png, file);
    const std::vector<unsigned char> pixels = pixels_of(png, texture.size);
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, static_cast<GLsizei>(texture.size.width),
                 static_cast<GLsizei>(texture.size.height), 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 pixels.data());
    texture.id = name;
  } catch (const Error& error) {
    texture.problem = error.what();
  }
  return texture;
}

}  // namespace

const LessonTexture& LessonTextures::picture(const LibraryLesson& lesson,
                                             const std::string& version, const std::string& file) {
  if (version != version_) clear();
  version_ = version;
  const auto found = textures_.find(file);
  if (found != textures_.end()) return found->second;
  return textures_.emplace(file, load(lesson, file)).first->second;
}

void LessonTextures::clear() {
  for (const auto& [file, texture] : textures_)
    if (const auto name = static_cast<GLuint>(texture.id); name != 0) glDeleteTextures(1, &name);
  textures_.clear();
}

}  // namespace triescope::app

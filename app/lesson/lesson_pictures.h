// Pictures of a lesson: PNG files beside it. They are untrusted: their size in bytes and px is
// checked before anything is decoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/lesson/lesson_library.h"
#include "lessons/check_lesson.h"

namespace triescope::app {

inline constexpr std::uintmax_t kMostPictureBytes = 4 << 20;
inline constexpr std::uint32_t kMostPicturePx = 4096;  // for a side

struct PictureSize {
  std::uint32_t width = 0, height = 0;  // px
};
// Reads the size from the head of a PNG file. Error{kCorruption}: not a PNG, or larger than
// kMostPicturePx.
PictureSize picture_size(std::string_view png, const std::string& name);
// The bytes of a picture of this lesson whose size is acceptable. Errors: those of file_beside()
// and picture_size().
std::string picture_bytes(const LibraryLesson& lesson, const std::string& file);

// The lesson's pictures that do not exist or cannot be shown.
std::vector<lessons::Finding> check_pictures(const LibraryLesson& lesson);

}  // namespace triescope::app

// Pictures of a lesson: PNG files beside it. They are untrusted: their size in the file and in px is
// looked at before anything is decoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/lesson_library.h"
#include "lessons/check_lesson.h"

namespace triescope::app {

inline constexpr std::uintmax_t kMostPictureBytes = 4 << 20;
inline constexpr std::uint32_t kMostPicturePx = 4096;  // of a side

struct PictureSize {
  std::uint32_t width = 0, height = 0;  // px
};
// By the head of a PNG file. Error{kCorruption}: not one, or larger than kMostPicturePx.
PictureSize picture_size(std::string_view png, const std::string& name);
// The bytes of a picture of this lesson, whose size is right. Errors: file_beside()'s, picture_size()'s.
std::string picture_bytes(const LibraryLesson& lesson, const std::string& file);

// The lesson's pictures that are not there, or cannot be shown.
std::vector<lessons::Finding> check_pictures(const LibraryLesson& lesson);

}  // namespace triescope::app

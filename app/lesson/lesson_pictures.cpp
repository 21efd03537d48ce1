#include "app/lesson/lesson_pictures.h"

#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
// Offsets behind the signature: the first chunk's name (behind its length), then width and height.
constexpr std::size_t kName = 12, kWidth = 16, kHeight = 20, kHead = 24;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void check(const LibraryLesson& lesson, const std::vector<lessons::Block>& blocks,
           std::vector<lessons::Finding>& findings) {
  for (const lessons::Block& block : blocks) {
    for (const lessons::Span& span : block.spans) {
      if (span.picture.empty()) continue;
      try {
        picture_bytes(lesson, span.picture);
      } catch (const Error& error) {
        findings.push_back({span.line, error.what()});
      }
    }
    check(lesson, block.blocks, findings);
  }
}

}  // namespace

PictureSize picture_size(std::string_view png, const std::string& name) {
  if (png.size() < kHead || !png.starts_with(kSignature) || png.substr(kName, 4) != "IHDR")
    throw Error(ErrorCode::kCorruption, name + ": expected a PNG file; found something else");
  const PictureSize size{big_endian(png, kWidth), big_endian(png, kHeight)};
  if (size.width == 0 || size.height == 0 || size.width > kMostPicturePx ||
      size.height > kMostPicturePx)
    throw Error(ErrorCode::kCorruption, name + ": expected a picture of 1 to " +
                                            std::to_string(kMostPicturePx) + " px a side; found " +
                                            std::to_string(size.width) + " × " +
                                            std::to_string(size.height));
  return size;
}

std::string picture_bytes(const LibraryLesson& lesson, const std::string& file) {
  std::string bytes = file_beside(lesson, file, kMostPictureBytes);
  picture_size(bytes, file);
  return bytes;
}

std::vector<lessons::Finding> check_pictures(const LibraryLesson& lesson) {
  std::vector<lessons::Finding> findings;
  for (const lessons::Step& step : lesson.lesson.steps)
    for (const lessons::Piece& piece : step.pieces) {
      if (const auto* const block = std::get_if<lessons::Block>(&piece))
        check(lesson, {*block}, findings);
      if (const auto* const notes = std::get_if<lessons::Notes>(&piece))
        check(lesson, notes->blocks, findings);
    }
  return findings;
}

}  // namespace triescope::app

// Pictures of lessons are untrusted: their heads are checked before they are decoded.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "app/lesson/lesson_pictures.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace triescope::test::test_lesson_pictures {
namespace {

namespace fs = std::filesystem;
using namespace triescope::app;

// The head of a PNG file of this size.
std::string png(std::uint32_t width, std::uint32_t height) {
  std::string bytes("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", 16);
  for (const std::uint32_t side : {width, height})
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(side >> shift & 255);
  return bytes;
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("pictures: their size is read from the head of the file") {
  const PictureSize size = picture_size(png(640, 258), "a.png");
  CHECK(size.width == 640);
  CHECK(size.height == 258);
  CHECK(picture_size(png(4096, 1), "a.png").width == 4096);
}

TEST_CASE("pictures: what is not a PNG of a usual size is refused") {
  const auto refused = [](const std::string& bytes) {
    return refusal(ErrorCode::kCorruption, [&] { picture_size(bytes, "a.png"); });
  };
  CHECK(refused("") == "a.png: expected a PNG file; found something else");
  CHECK(refused("GIF89a") == "a.png: expected a PNG file; found something else");
  CHECK(refused(png(1, 1).substr(0, 23)) == "a.png: expected a PNG file; found something else");
  std::string other = png(1, 1);
  other[15] = 'X';
  CHECK(refused(other) == "a.png: expected a PNG file; found something else");
  CHECK(refused(png(4097, 1)) ==
        "a.png: expected a picture of 1 to 4096 px a side; found 4097 × 1");
  CHECK(refused(png(1, 0)) == "a.png: expected a picture of 1 to 4096 px a side; found 1 × 0");
}

TEST_CASE("pictures: they are files of the lesson's own folder, and not too large") {
  const TempDir folder;
  const LibraryLesson lesson{"a", "a.md", folder.path().string(), {}};
  write(folder.path() / "good.png", png(3, 4));
  CHECK(picture_bytes(lesson, "good.png") == png(3, 4));
  fs::create_symlink(folder.path() / "good.png", folder.path() / "link.png");
  CHECK(
      refusal(ErrorCode::kCorruption, [&] { picture_bytes(lesson, "link.png"); })
          .ends_with("link.png: expected a file of the lesson's own folder; found a link, which is "
                     "not followed"));
  CHECK(refusal(ErrorCode::kNotFound, [&] {
          picture_bytes(lesson, "gone.png");
        }).ends_with("gone.png: no such file beside the lesson"));
  fs::create_directory(folder.path() / "folder.png");
  CHECK(refusal(ErrorCode::kCorruption, [&] {
          picture_bytes(lesson, "folder.png");
        }).ends_with("folder.png: expected a file; found something else"));
  write(folder.path() / "large.png", png(3, 4) + std::string(4 << 20, 'x'));
  CHECK(refusal(ErrorCode::kCorruption, [&] {
          picture_bytes(lesson, "large.png");
        }).ends_with("large.png: expected at most 4096 KiB; found 4096"));
}

TEST_CASE("pictures: the check names those that are missing, with their lines") {
  const TempDir folder;
  LibraryLesson lesson{"a", "a.md", folder.path().string(), {}};
  lesson.lesson = lessons::read_lesson(
      "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: beam\nprompt: x\n---\n"
      "## S\n![a](good.png)\n\n- one\n- ![b](gone.png)\n\n> notes: ![c](bad.png)\n",
      "a.md");
  write(folder.path() / "good.png", png(3, 4));
  write(folder.path() / "bad.png", "bad");
  const auto findings = check_pictures(lesson);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].line == 12);
  CHECK(findings[0].text.ends_with("gone.png: no such file beside the lesson"));
  CHECK(findings[1].line == 14);
  CHECK(findings[1].text == "bad.png: expected a PNG file; found something else");
}

}  // namespace
}  // namespace triescope::test::test_lesson_pictures

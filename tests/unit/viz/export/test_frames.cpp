// One frame a step: as a GIF, read back by giflib, and as PNGs.
#include <cairo.h>
#include <doctest/doctest.h>
#include <gif_lib.h>

#include <filesystem>
#include <memory>
#include <set>

#include "tests/support/refusal.h"
#include "tests/unit/viz/captures.h"
#include "viz/draw/theme.h"
#include "viz/export/color_table.h"
#include "viz/export/frames.h"
#include "viz/export/gif_file.h"

namespace test_frames {

using namespace triescope;
using namespace triescope::viz;

namespace {

// A GIF as a reader shows it: every frame drawn over the one before.
struct ReadGif {
  int width = 0, height = 0, times = -1;  // times: from the loop extension; -1 = the file has none
  std::vector<int> delays;                // hundredths of a second
  std::vector<std::vector<std::uint32_t>> frames;
  std::vector<int> areas;  // pixels that each frame wrote
};

ReadGif read_gif(const std::string& path) {
  int error = 0;
  GifFileType* file = DGifOpenFileName(path.c_str(), &error);
  REQUIRE(file);
  const std::unique_ptr<GifFileType, void (*)(GifFileType*)> closed(
      file, [](GifFileType* one) { DGifCloseFile(one, nullptr); });
  REQUIRE(DGifSlurp(file) == GIF_OK);
  ReadGif gif;
  gif.width = file->SWidth;
  gif.height = file->SHeight;
  std::vector<std::uint32_t> shown(static_cast<std::size_t>(gif.width * gif.height));
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& image = file->SavedImages[i];
    GraphicsControlBlock control;
    REQUIRE(DGifSavedExtensionToGCB(file, i, &control) == GIF_OK);
    gif.delays.push_back(control.DelayTime);
    const GifImageDesc& at = image.ImageDesc;
    CHECK_FALSE(at.ColorMap);
    for (int y = 0; y < at.Height; ++y)
      for (int x = 0; x < at.Width; ++x) {
        const GifColorType color = file->SColorMap->Colors[image.RasterBits[y * at.Width + x]];
        shown[static_cast<std::size_t>((at.Top + y) * gif.width + at.Left + x)] =
            static_cast<std::uint32_t>(color.Red << 16 | color.Green << 8 | color.Blue);
      }
    gif.frames.push_back(shown);
    gif.areas.push_back(at.Width * at.Height);
    for (int k = 0; k + 1 < image.ExtensionBlockCount; ++k)
      if (image.ExtensionBlocks[k].Function == APPLICATION_EXT_FUNC_CODE) {
        const GifByteType* bytes = image.ExtensionBlocks[k + 1].Bytes;
        gif.times = bytes[1] | bytes[2] << 8;
      }
  }
  return gif;
}

std::vector<std::uint32_t> read_png(const std::string& path, int& width, int& height) {
  cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
  REQUIRE(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS);
  width = cairo_image_surface_get_width(surface);
  height = cairo_image_surface_get_height(surface);
  std::vector<std::uint32_t> out;
  const unsigned char* data = cairo_image_surface_get_data(surface);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      out.push_back(reinterpret_cast<const std::uint32_t*>(
                        data + y * cairo_image_surface_get_stride(surface))[x] &
                    0xFFFFFF);
  cairo_surface_destroy(surface);
  return out;
}

std::uint32_t number_of(Color c) { return static_cast<std::uint32_t>(c.r << 16 | c.g << 8 | c.b); }

// Returns the largest distance of a channel between two pictures, and how many pixels differ by
// more than 8.
std::pair<int, int> apart(const std::vector<std::uint32_t>& a,
                          const std::vector<std::uint32_t>& b) {
  REQUIRE(a.size() == b.size());
  int most = 0, far = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int here = 0;
    for (const int shift : {16, 8, 0})
      here = std::max(here, std::abs(static_cast<int>(a[i] >> shift & 255) -
                                     static_cast<int>(b[i] >> shift & 255)));
    most = std::max(most, here);
    far += here > 8;
  }
  return {most, far};
}

}  // namespace

TEST_CASE("frames: a GIF has a frame a step, all of one size") {
  test::TempDir folder;
  const std::string path = (folder.path() / "trie.gif").string();
  double last = 0, total = 0;
  export_gif(test::beam_capture(), path, {.panels = {"trie"}, .steps = {3, 7}}, 640, 0,
             [&](const std::string&, double done, double all) { last = done, total = all; });
  const ReadGif gif = read_gif(path);
  CHECK(gif.width == 960);
  CHECK(gif.height == 540);
  CHECK(gif.delays == std::vector<int>{64, 64, 64, 64, 64});
  CHECK(gif.times == 0);
  CHECK(last == 10);
  CHECK(total == 10);
  for (std::size_t i = 0; i < gif.frames.size(); ++i) {
    CHECK(gif.frames[i].front() == number_of(light_theme().background));
    if (i > 0) CHECK(gif.frames[i] != gif.frames[i - 1]);
  }
}

TEST_CASE("frames: a GIF's frames are the PNG frames, but for shades that share a colour") {
  test::TempDir folder;
  const FrameOptions options{
      .panels = {"verdict", "text"}, .steps = {8, 10}, .theme = ThemeName::kDark};
  const std::string path = (folder.path() / "two.gif").string();
  export_gif(test::draft_capture(), path, options, 100, 1);
  const auto files =
      export_png_frames(test::draft_capture(), (folder.path() / "two.png").string(), options);
  CHECK(files == std::vector<std::string>{(folder.path() / "two-008.png").string(),
                                          (folder.path() / "two-009.png").string(),
                                          (folder.path() / "two-010.png").string()});
  const ReadGif gif = read_gif(path);
  CHECK(gif.times == -1);
  REQUIRE(gif.frames.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    int width = 0, height = 0;
    const auto png = read_png(files[i], width, height);
    CHECK(width == 1280);
    CHECK(height == 540);
    CHECK(gif.width == width);
    CHECK(png.front() == number_of(dark_theme().background));
    const auto [most, far] = apart(gif.frames[i], png);
    CHECK(most < 48);
    CHECK(far < width * height / 100);
  }
}

TEST_CASE("frames: only what changed is written") {
  test::TempDir folder;
  const std::string path = (folder.path() / "a.gif").string();
  {
    const std::uint32_t colors[] = {0xFFFFFF, 0xFF0000, 0x00FF00};
    GifFile gif(path, 4, 3, colors, 3);
    std::vector<std::uint8_t> frame(12, 0);
    gif.add(frame, 994);
    frame[5] = 1;
    frame[10] = 2;
    gif.add(frame, 995);
    gif.add(frame, 0);
    gif.finish();
  }
  const ReadGif gif = read_gif(path);
  CHECK(gif.width == 4);
  CHECK(gif.height == 3);
  CHECK(gif.times == 2);
  CHECK(gif.delays == std::vector<int>{99, 100, 0});
  CHECK(gif.areas == std::vector<int>{12, 4, 1});
  REQUIRE(gif.frames.size() == 3);
  CHECK(gif.frames[0] == std::vector<std::uint32_t>(12, 0xFFFFFF));
  CHECK(gif.frames[1][5] == 0xFF0000);
  CHECK(gif.frames[1][10] == 0x00FF00);
  CHECK(gif.frames[1][6] == 0xFFFFFF);
  CHECK(gif.frames[2] == gif.frames[1]);
}

TEST_CASE("frames: size and scale") {
  test::TempDir folder;
  int width = 0, height = 0;
  const auto files = export_png_frames(
      test::beam_capture(), (folder.path() / "m.png").string(),
      {.panels = {"memory"}, .steps = {2, 2}, .width_px = 400, .height_px = 301, .scale = 1.5f});
  REQUIRE(files.size() == 1);
  read_png(files[0], width, height);
  CHECK(width == 600);
  CHECK(height == 452);
}

TEST_CASE("frames: what cannot be frames is refused") {
  test::TempDir folder;
  const std::string path = (folder.path() / "x.gif").string();
  const auto refused = [&](const FrameOptions& options) {
    return test::refusal(ErrorCode::kInvalidArgument,
                         [&] { export_gif(test::beam_capture(), path, options, 100, 0); });
  };
  CHECK(refused({.panels = {}, .steps = {0, 1}}) ==
        "--panel: expected one panel or two for frames; found 0");
  CHECK(refused({.panels = {"kv", "text", "log"}, .steps = {0, 1}}) ==
        "--panel: expected one panel or two for frames; found 3");
  CHECK(refused({.panels = {"txt"}, .steps = {0, 1}}).ends_with("did you mean text?"));
  CHECK(refused({.panels = {"text"}, .steps = {900, 901}})
            .ends_with("expected 1 to 1000 steps for frames, found 0; choose them with --steps "
                       "FIRST:LAST"));
  CHECK(refused({.panels = {"text"}, .steps = {0, 1}, .width_px = 4001, .height_px = 4000}) ==
        "--size: expected at most 16000000 pixels a frame; found 16004000");
  CHECK_FALSE(std::filesystem::exists(path));
  for (const char* name : {"frames", "frames.gif", ".png", ""})
    CHECK(test::refusal(ErrorCode::kInvalidArgument, [&] {
            export_png_frames(test::beam_capture(), name, {.panels = {"text"}, .steps = {0, 1}});
          }).starts_with("-o: expected a name that ends in .png"));
  CHECK(test::refusal(ErrorCode::kIoError, [&] {
          export_gif(test::beam_capture(), "/nowhere/x.gif", {.panels = {"text"}, .steps = {0, 1}},
                     100, 0);
        }).find("/nowhere/x.gif") != std::string::npos);
}

TEST_CASE("frames: up to 256 colours are kept as they are") {
  ColorCounts counts;
  for (std::uint32_t i = 0; i < 256; ++i) counts[i * 0x010101] = i + 1;
  ColorTable table(counts);
  REQUIRE(table.colors().size() == 256);
  CHECK(table.colors()[0] == 0xFFFFFF);  // the most frequent
  for (std::uint32_t i = 0; i < 256; ++i)
    CHECK(table.colors()[table.index_of(i * 0x010101)] == i * 0x010101);
  CHECK(table.colors()[table.index_of(0x101011)] == 0x101010);
}

TEST_CASE("frames: of more colours the frequent ones are kept, the others share the rest") {
  ColorCounts counts;
  for (std::uint32_t i = 0; i < 2000; ++i) counts[i * 0x001003 & 0xFFFFFF] = 1 + i % 3;
  counts[0x123456] = 1000;
  counts[0xFEDCBA] = 999;
  ColorTable table(counts);
  CHECK(table.colors().size() == 256);
  CHECK(table.colors()[0] == 0x123456);
  CHECK(table.colors()[1] == 0xFEDCBA);
  CHECK(table.index_of(0x123456) == 0);
  std::set<std::uint8_t> used;
  for (const auto& [color, count] : counts) {
    const std::uint8_t index = table.index_of(color);
    used.insert(index);
    int most = 0;
    for (const int shift : {16, 8, 0})
      most = std::max(most, std::abs(static_cast<int>(color >> shift & 255) -
                                     static_cast<int>(table.colors()[index] >> shift & 255)));
    CHECK(most <= 40);
  }
  CHECK(used.size() > 240);
}

TEST_CASE("frames: a box is cut where half of its pixels lie, and stands for their mean") {
  ColorCounts counts;
  for (std::uint32_t i = 0; i < 128; ++i) counts[0x00FF00 + i] = 10000;  // kept exactly
  const auto shade = [](std::uint32_t i) { return (i << 17 & 0xFF0000) | i; };
  for (std::uint32_t i = 0; i < 129; ++i) counts[shade(i)] = 1;
  ColorTable table(counts);
  CHECK(table.colors().size() == 256);
  // 129 shades share 128 places, so one pair of neighbours shares its mean.
  int shared = 0;
  for (std::uint32_t i = 0; i < 129; ++i)
    shared += table.colors()[table.index_of(shade(i))] != shade(i);
  CHECK(shared >= 1);
  CHECK(shared <= 2);
  ColorTable one(ColorCounts{{0x0A0B0C, 1}});
  CHECK(one.colors().size() == 1);
  CHECK(one.index_of(0xFFFFFF) == 0);
}

}  // namespace test_frames

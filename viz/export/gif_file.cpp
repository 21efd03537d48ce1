#include "viz/export/gif_file.h"

#include <gif_lib.h>

#include <algorithm>
#include <fstream>

#include "core/base/error.h"

namespace triescope::viz {

struct GifFile::Impl {
  std::string path;
  std::ofstream out;
  GifFileType* file = nullptr;
  int width = 0, height = 0;
  std::vector<std::uint8_t> shown;  // the previous frame

  [[noreturn]] void fail(int code) const {
    const char* const reason = GifErrorString(code);
    throw Error(ErrorCode::kIoError, path + ": the animation cannot be written (" +
                                         (reason ? reason : "unknown error") +
                                         "); is the folder there, and is there space?");
  }
  void check(int result) const {
    if (result == GIF_ERROR) fail(file->Error);
  }
  ~Impl() {
    int ignored = 0;
    if (file) EGifCloseFile(file, &ignored);
  }
};

namespace {

struct Area {
  int left = 0, top = 0, right = 0, bottom = 0;
};

// The area that differs; one pixel if nothing does, because a frame cannot be empty.
Area changed(std::span<const std::uint8_t> frame, std::span<const std::uint8_t> before, int width,
             int height) {
  if (before.empty()) return {0, 0, width, height};
  Area area{width, height, 0, 0};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x);
      if (frame[at] == before[at]) continue;
      area = {std::min(area.left, x), std::min(area.top, y), std::max(area.right, x + 1),
              std::max(area.bottom, y + 1)};
    }
  return area.right == 0 ? Area{0, 0, 1, 1} : area;
}

}  // namespace

GifFile::GifFile(const std::string& path, int width, int height,
                 std::span<const std::uint32_t> colors, int loops)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->width = width;
  impl_->height = height;
  // The file is written through our own stream: giflib would make a file that nobody else may read.
  impl_->out.open(path, std::ios::binary);
  if (!impl_->out) impl_->fail(E_GIF_ERR_OPEN_FAILED);
  int error = 0;
  impl_->file = EGifOpen(
      &impl_->out,
      [](GifFileType* file, const GifByteType* bytes, int count) {
        auto& out = *static_cast<std::ofstream*>(file->UserData);
        return out.write(reinterpret_cast<const char*>(bytes), count) ? count : 0;
      },
      &error);
  if (!impl_->file) impl_->fail(error);
  EGifSetGifVersion(impl_->file, true);
  const int bits = std::max(1, GifBitSize(static_cast<int>(colors.size())));
  const std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)> map(
      GifMakeMapObject(1 << bits, nullptr), &GifFreeMapObject);
  if (!map) impl_->fail(E_GIF_ERR_NOT_ENOUGH_MEM);
  for (std::size_t i = 0; i < colors.size(); ++i)
    map->Colors[i] = {static_cast<GifByteType>(colors[i] >> 16),
                      static_cast<GifByteType>(colors[i] >> 8),
                      static_cast<GifByteType>(colors[i])};
  impl_->check(EGifPutScreenDesc(impl_->file, width, height, 8, 0, map.get()));
  // Netscape's extension: how often the animation repeats after its first showing.
  if (loops == 1) return;
  const int again = loops == 0 ? 0 : loops - 1;
  const GifByteType times[] = {1, static_cast<GifByteType>(again & 255),
                               static_cast<GifByteType>(again >> 8)};
  impl_->check(EGifPutExtensionLeader(impl_->file, APPLICATION_EXT_FUNC_CODE));
  impl_->check(EGifPutExtensionBlock(impl_->file, 11, "NETSCAPE2.0"));
  impl_->check(EGifPutExtensionBlock(impl_->file, sizeof times, times));
  impl_->check(EGifPutExtensionTrailer(impl_->file));
}

GifFile::~GifFile() = default;

void GifFile::add(std::span<const std::uint8_t> frame, int delay_ms) {
  const Area area = changed(frame, impl_->shown, impl_->width, impl_->height);
  GraphicsControlBlock control{};
  control.DisposalMode = DISPOSE_DO_NOT;
  control.DelayTime = (delay_ms + 5) / 10;
  control.TransparentColor = NO_TRANSPARENT_COLOR;
  GifByteType bytes[4];
  EGifGCBToExtension(&control, bytes);
  impl_->check(
      EGifPutExtension(impl_->file, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(sizeof bytes), bytes));
  const int width = area.right - area.left;
  impl_->check(EGifPutImageDesc(impl_->file, area.left, area.top, width, area.bottom - area.top,
                                false, nullptr));
  std::vector<GifPixelType> line(static_cast<std::size_t>(width));
  for (int y = area.top; y < area.bottom; ++y) {
    const auto row =
        frame.subspan(static_cast<std::size_t>(y * impl_->width + area.left), line.size());
    std::copy(row.begin(), row.end(), line.begin());
    impl_->check(EGifPutLine(impl_->file, line.data(), width));
  }
  impl_->shown.assign(frame.begin(), frame.end());
}

void GifFile::finish() {
  int error = 0;
  const int result = EGifCloseFile(impl_->file, &error);
  impl_->file = nullptr;
  if (result == GIF_ERROR) impl_->fail(error);
  if (!impl_->out.flush()) impl_->fail(E_GIF_ERR_CLOSE_FAILED);
  impl_->out.close();
}

}  // namespace triescope::viz

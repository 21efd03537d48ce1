// GifFile: an animated GIF, written frame by frame by giflib. All frames share one table of
// colours, and only the box that changed is written for a frame. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace triescope::viz {

class GifFile {
 public:
  // `colors`: 1 to 256, 0xRRGGBB. `loops`: how often it plays, 0 = forever. Sizes are 1 to 65535.
  // Errors: kIoError (the file, and giflib's reason).
  GifFile(const std::string& path, int width, int height, std::span<const std::uint32_t> colors,
          int loops);
  ~GifFile();
  GifFile(const GifFile&) = delete;
  GifFile& operator=(const GifFile&) = delete;

  // Adds width × height indices into `colors`, row by row, shown for `delay_ms` (kept in hundredths
  // of a second). Error{kIoError}.
  void add(std::span<const std::uint8_t> frame, int delay_ms);
  void finish();  // Error{kIoError}; nothing may be added afterwards

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::viz

// ColorTable: at most 256 colours that represent all colours of a set of pictures, as a GIF needs
// them. Pictures of panels have a few flat colours and the shades between them at the edges of
// letters and lines. The most frequent ones are kept exactly; the others share the rest of the
// table by median cut. Source: Heckbert, Color image quantization for frame buffer display
// (SIGGRAPH 1982), section 4.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace triescope::viz {

// 0xRRGGBB, and how often it occurs.
using ColorCounts = std::unordered_map<std::uint32_t, std::uint64_t>;

class ColorTable {
 public:
  // `counts` must not be empty. 1 to 256 colours; the same counts give the same table.
  explicit ColorTable(const ColorCounts& counts);
  std::span<const std::uint32_t> colors() const { return colors_; }
  // The nearest colour in RGB; ties go to the lower index.
  std::uint8_t index_of(std::uint32_t color);

 private:
  std::vector<std::uint32_t> colors_;
  std::unordered_map<std::uint32_t, std::uint8_t> known_;
};

}  // namespace triescope::viz

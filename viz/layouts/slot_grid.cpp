#include "viz/layouts/slot_grid.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {

SlotGrid SlotGrid::fit(float w, float h, std::size_t slots, float em, float zoom) {
  // Wide cells with a token, then narrower ones, then squares without text.
  constexpr float kSizes[][2] = {{kWidestEm, kTallestEm},
                                 {2.8f, 2.0f},
                                 {2.2f, 1.8f},
                                 {1.8f, 1.6f},
                                 {1.3f, 1.3f},
                                 {1.0f, 1.0f},
                                 {0.75f, 0.75f},
                                 {0.55f, 0.55f},
                                 {0.4f, 0.4f}};
  SlotGrid grid;
  slots = std::max<std::size_t>(1, slots);
  const auto try_size = [&](float cw, float ch) {
    grid.width = std::min(cw, w);
    grid.pitch = ch;
    grid.gap = ch >= 10 ? 2.0f : ch >= 6 ? 1.0f : 0.5f;
    grid.columns = static_cast<std::size_t>(std::max(1.0f, std::floor(w / grid.width)));
    grid.merge = 1;
    grid.cells = slots;
    return grid.height() <= h;
  };
  std::size_t chosen = 0;
  bool fits = false;
  for (const auto& [cw, ch] : kSizes) {
    if (ch * em < kMinPx) break;
    fits = try_size(cw * em, ch * em);
    if (fits) break;
    ++chosen;
  }
  if (!fits && !try_size(kMinPx, kMinPx)) {
    const float rows = std::max(1.0f, std::floor(h / kMinPx));
    const float room = rows * static_cast<float>(grid.columns);
    grid.merge = static_cast<std::size_t>(std::ceil(static_cast<float>(slots) / room));
    grid.cells = (slots + grid.merge - 1) / grid.merge;
  }
  if (zoom <= 1.001f) return grid;
  // When zoomed, the size grows steadily from the one that fits to the widest.
  const std::size_t merged = grid.merge;
  const float cw = std::min(kWidestEm * em * 1.5f,
                            grid.width * zoom * std::sqrt(static_cast<float>(merged))),
              ch = std::min(kTallestEm * em * 1.2f,
                            grid.pitch * zoom * std::sqrt(static_cast<float>(merged)));
  try_size(cw, ch);
  return grid;
}

Rect SlotGrid::cell(std::size_t i) const {
  return {static_cast<float>(i % columns) * width + gap / 2,
          static_cast<float>(i / columns) * pitch + gap / 2, width - gap, pitch - gap};
}

std::optional<std::size_t> SlotGrid::at(Point p) const {
  if (p.x < 0 || p.y < 0) return std::nullopt;
  const auto column = static_cast<std::size_t>(p.x / width);
  if (column >= columns) return std::nullopt;
  const std::size_t i = static_cast<std::size_t>(p.y / pitch) * columns + column;
  return i < cells ? std::optional(i) : std::nullopt;
}

float SlotGrid::height() const {
  return static_cast<float>((cells + columns - 1) / columns) * pitch;
}

std::pair<std::size_t, std::size_t> SlotGrid::visible(float scroll, float h,
                                                      std::size_t count) const {
  const auto first = static_cast<std::size_t>(std::max(0.0f, scroll / pitch)) * columns;
  const auto last =
      static_cast<std::size_t>(std::max(0.0f, std::ceil((scroll + h) / pitch))) * columns;
  return {std::min(first, count), std::min(last, count)};
}

}  // namespace triescope::viz

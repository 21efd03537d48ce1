#include "viz/export/color_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace triescope::viz {
namespace {

constexpr std::size_t kColors = 256, kExact = 128;

struct Shade {
  std::uint32_t color = 0;
  std::uint64_t count = 0;
};
using Box = std::span<Shade>;

int channel(std::uint32_t color, int shift) { return static_cast<int>(color >> shift & 255); }

// How far the box spreads, and in which channel.
std::pair<int, int> spread_of(Box box) {
  std::pair<int, int> widest{-1, 0};
  for (const int shift : {16, 8, 0}) {
    int low = 255, high = 0;
    for (const Shade& shade : box) {
      low = std::min(low, channel(shade.color, shift));
      high = std::max(high, channel(shade.color, shift));
    }
    if (high - low > widest.first) widest = {high - low, shift};
  }
  return widest;
}

// The mean, weighted by frequency.
std::uint32_t mean_of(Box box) {
  std::uint32_t out = 0;
  for (const int shift : {16, 8, 0}) {
    std::uint64_t sum = 0, count = 0;
    for (const Shade& shade : box) {
      sum += static_cast<std::uint64_t>(channel(shade.color, shift)) * shade.count;
      count += shade.count;
    }
    out |= static_cast<std::uint32_t>((sum + count / 2) / count) << shift;
  }
  return out;
}

// The index, sorted by `shift`'s channel, with half of the pixels on either side; neither side is
// empty.
std::size_t median_of(Box box, int shift) {
  std::sort(box.begin(), box.end(), [shift](const Shade& a, const Shade& b) {
    return std::pair(channel(a.color, shift), a.color) <
           std::pair(channel(b.color, shift), b.color);
  });
  std::uint64_t all = 0, before = 0;
  for (const Shade& shade : box) all += shade.count;
  std::size_t at = 0;
  while (at + 1 < box.size() && (at == 0 || before + box[at].count <= all / 2))
    before += box[at++].count;
  return at;
}

void median_cut(Box shades, std::size_t room, std::vector<std::uint32_t>& colors) {
  std::vector<Box> boxes = {shades};
  while (boxes.size() < room) {
    // The box that spreads furthest is cut.
    auto widest = boxes.begin();
    int most = 0;
    for (auto box = boxes.begin(); box != boxes.end(); ++box)
      if (const int spread = spread_of(*box).first; box->size() > 1 && spread > most) {
        widest = box;
        most = spread;
      }
    if (most == 0) break;
    const Box box = *widest;
    const std::size_t at = median_of(box, spread_of(box).second);
    *widest = box.first(at);
    boxes.push_back(box.subspan(at));
  }
  for (const Box box : boxes) colors.push_back(mean_of(box));
}

}  // namespace

ColorTable::ColorTable(const ColorCounts& counts) {
  std::vector<Shade> shades;
  for (const auto& [color, count] : counts) shades.push_back({color, count});
  std::sort(shades.begin(), shades.end(), [](const Shade& a, const Shade& b) {
    return std::pair(b.count, a.color) < std::pair(a.count, b.color);
  });
  const std::size_t exact = shades.size() <= kColors ? shades.size() : kExact;
  for (std::size_t i = 0; i < exact; ++i) colors_.push_back(shades[i].color);
  if (exact < shades.size()) median_cut(std::span(shades).subspan(exact), kColors - exact, colors_);
}

std::uint8_t ColorTable::index_of(std::uint32_t color) {
  const auto [at, fresh] = known_.try_emplace(color, std::uint8_t{0});
  if (!fresh) return at->second;
  int nearest = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < colors_.size(); ++i) {
    int distance = 0;
    for (const int shift : {16, 8, 0}) {
      const int apart = channel(color, shift) - channel(colors_[i], shift);
      distance += apart * apart;
    }
    if (distance >= nearest) continue;
    nearest = distance;
    at->second = static_cast<std::uint8_t>(i);
  }
  return at->second;
}

}  // namespace triescope::viz

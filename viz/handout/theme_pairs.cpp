#include "viz/handout/theme_pairs.h"

#include <algorithm>
#include <cstdio>

namespace triescope::viz {
namespace {

constexpr std::size_t kAhead = 64;  // how far ahead a shape is looked for that only one theme has
constexpr Color kNone{0, 0, 0, 0};

std::uint32_t number_of(Color c) {
  return static_cast<std::uint32_t>(c.r) << 24 | static_cast<std::uint32_t>(c.g) << 16 |
         static_cast<std::uint32_t>(c.b) << 8 | c.a;
}

bool alike(const Element& a, const Element& b) {
  return a.kind == b.kind && a.x == b.x && a.y == b.y && a.shape == b.shape;
}

}  // namespace

std::size_t ColorPairs::index_of(Color light, Color dark) {
  const std::pair key{number_of(light), number_of(dark)};
  const auto [at, fresh] = index_.try_emplace(key, pairs_.size());
  if (fresh) pairs_.push_back(key);
  return at->second;
}

std::string ColorPairs::json() const {
  std::string out = "[";
  for (const auto& [light, dark] : pairs_) {
    char text[32];
    std::snprintf(text, sizeof text, "%s[\"#%08x\",\"#%08x\"]", out.size() > 1 ? "," : "", light,
                  dark);
    out += text;
  }
  return out + "]";
}

std::vector<std::string> paired(std::span<const Element> light, std::span<const Element> dark,
                                ColorPairs& colors, SharedList& looks) {
  std::vector<std::string> out;
  const auto add = [&](const Element& element, Color in_light, Color in_dark) {
    std::string json = "[" + std::to_string(static_cast<int>(element.kind));
    if (element.kind != Element::Kind::kUnclip) {
      // A clip has no colour, but arrays of one form are easier to read.
      json += "," + std::to_string(colors.index_of(in_light, in_dark)) + "," + element.shape;
    }
    out.push_back(std::to_string(looks.number_of(json + "]")) + "," + std::to_string(element.x) +
                  "," + std::to_string(element.y));
  };
  std::size_t i = 0, j = 0;
  while (i < light.size() || j < dark.size()) {
    if (i < light.size() && j < dark.size() && alike(light[i], dark[j])) {
      add(light[i], light[i].color, dark[j].color);
      ++i, ++j;
      continue;
    }
    // The nearest shape that both have again; shapes before it belong to one theme.
    std::size_t in_light = light.size(), in_dark = dark.size();
    for (std::size_t ahead = 1; ahead <= kAhead && in_light == light.size(); ++ahead)
      for (std::size_t k = 0; k <= ahead; ++k)
        if (i + k < light.size() && j + ahead - k < dark.size() &&
            alike(light[i + k], dark[j + ahead - k])) {
          in_light = i + k;
          in_dark = j + ahead - k;
          break;
        }
    for (; i < in_light; ++i) add(light[i], light[i].color, kNone);
    for (; j < in_dark; ++j) add(dark[j], kNone, dark[j].color);
  }
  return out;
}

}  // namespace triescope::viz

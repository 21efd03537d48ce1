// One picture for two themes: a panel draws the same shapes in the light and the dark theme, in
// other colours. A shape that only one of them has is invisible in the other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "viz/handout/element_canvas.h"
#include "viz/handout/shared_list.h"

namespace triescope::viz {

// Pairs of colours, light and dark, numbered in the order of their first use.
class ColorPairs {
 public:
  std::size_t index_of(Color light, Color dark);
  // [["#0072b2ff","#56b4e9ff"],…]
  std::string json() const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

// The elements as "n,x,y", in the order of drawing: n is the number of their look in `looks`, a
// JSON array [kind, pair of colours, shape…].
std::vector<std::string> paired(std::span<const Element> light, std::span<const Element> dark,
                                ColorPairs& colors, SharedList& looks);

}  // namespace triescope::viz

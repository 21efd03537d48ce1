// Memory that a forward writes into and the next one takes again.
#pragma once

#include <cstdint>
#include <vector>

namespace triescope {

// Makes room for [rows, width]; never shrinks.
inline void at_least(std::vector<float>& scratch, std::int64_t rows, std::int64_t width) {
  const auto size = static_cast<std::size_t>(rows * width);
  if (scratch.size() < size) scratch.resize(size);
}

}  // namespace triescope

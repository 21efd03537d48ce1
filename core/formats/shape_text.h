// A shape for messages: "[64, 16]". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace triescope::formats {

inline std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace triescope::formats

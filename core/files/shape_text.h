// Texts about tensors for messages. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace triescope::formats {

// "[64, 16]"
inline std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

// A note about tensors that are stored in F64. REQUIRES: at least one name.
inline std::string rounding_note(const std::set<std::string>& names) {
  return "tensors in F64 (" + *names.begin() +
         (names.size() == 1 ? "" : " and " + std::to_string(names.size() - 1) + " more") +
         ") are rounded to F32";
}

}  // namespace triescope::formats

// What a session may be called: its name becomes a folder's, and a word of a command.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace triescope::app {

// Whether it is 1 to `most` of a-z, 0-9 and -, and would not be taken for an option.
inline bool is_session_name(std::string_view name, std::size_t most) {
  return !name.empty() && name.size() <= most && !name.starts_with('-') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace triescope::app

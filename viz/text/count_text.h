// Counts and enumerations as they are spoken: "three", "12", "a, b and c". Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace triescope::viz {

// "zero" … "ten", then digits with a comma every three: "11", "49,152".
std::string count_text(std::int64_t count);
// The separator before item `index` of `size`: "", ", " or " and ".
const char* before_item(std::size_t index, std::size_t size);

}  // namespace triescope::viz

// Counts, enumerations and how a sequence ended, as they are spoken. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace triescope::viz {

// "zero" … "ten", then digits with a comma every three: "11", "49,152".
std::string count_text(std::int64_t count);
// The separator before item `index` of `size`: "", ", " or " and ".
const char* before_item(std::size_t index, std::size_t size);
// "eos": "end-of-sequence token"; "length": "max_new_tokens reached"; "stopped": "stopped before
// its end"; any other text is unchanged.
std::string finish_text(std::string_view finish);

}  // namespace triescope::viz

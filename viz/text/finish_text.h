// How a sequence ended, in words.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// "eos": "end-of-sequence token"; "length": "max_new_tokens reached"; "stopped": "stopped before
// its end"; any other text is unchanged.
std::string finish_text(std::string_view finish);

}  // namespace triescope::viz

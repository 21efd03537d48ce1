// How a sequence ended, in words.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// "eos": "end-of-sequence token"; "length": "max_new_tokens reached"; "stopped": "stopped before its
// end"; anything else as it is.
std::string finish_text(std::string_view finish);

}  // namespace triescope::viz

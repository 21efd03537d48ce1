// What people call a setting of a recorded run. Pure.
#pragma once

#include <string>
#include <string_view>

namespace triescope::app {

// "Beams" for num_beams of beam; "" where the method is not known or has no parameter of that name (a
// capture may come from another version).
std::string setting_title(std::string_view method, std::string_view name);

}  // namespace triescope::app

// Numbers of bytes as people read them.
#pragma once

#include <string>

namespace triescope {

std::string bytes_text(double bytes);  // "1.20 MB": powers of 1000

}  // namespace triescope

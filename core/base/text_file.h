// A text file that the user names.
#pragma once

#include <string>

namespace triescope {

// To its end: also of a pipe. `expected`: what it should be, for the message ("a text file").
// Error{kNotFound}: it is not there, is a folder, or cannot be read; says path and reason.
std::string read_text_file(const std::string& path, const std::string& expected);

}  // namespace triescope

// Reads a text file that the user names.
#pragma once

#include <string>

namespace triescope {

// Reads to the end, from a pipe too, without the byte order mark that some editors begin a file with: it says how
// the text is encoded and is not part of it. `expected` says in the message what it should be ("a text
// file"). Error{kNotFound}: it does not exist, is a folder, or cannot be read; says path and
// reason.
std::string read_text_file(const std::string& path, const std::string& expected);

}  // namespace triescope

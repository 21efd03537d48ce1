// A new, empty capture file.
#pragma once

#include <memory>
#include <string>

namespace triescope::capture {

class Database;

// Makes a capture at `path` with all tables and a run that this process records. An existing file
// is replaced if it is a capture that nobody is recording and `overwrite` is set. Errors: kIoError
// (cannot create, no space), kInvalidArgument (the path exists and may not be replaced).
std::unique_ptr<Database> create_capture(const std::string& path, bool overwrite);

}  // namespace triescope::capture

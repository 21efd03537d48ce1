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

// Leaves the capture as one file, with `why` as the end of a run that never ended. Never throws: all
// of it may fail on a full disk, and what was committed is readable without it. REQUIRES: no
// statement over `db` is left.
void close_capture(std::unique_ptr<Database> db, const char* why);

}  // namespace triescope::capture

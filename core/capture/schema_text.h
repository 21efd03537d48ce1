// The format as people read it: what docs/capture.md lists, and SQL that makes an empty capture for
// another program's rows.
#pragma once

#include <string>

namespace triescope::capture {

// A table a section: every column with its values, what it is where it is missing, its meaning.
std::string schema_markdown();
// Statements that make an empty capture: header, tables, views. Unlike a recorder's, its tables check
// names and ranges, so that a mistake shows where it is made.
std::string schema_sql();

}  // namespace triescope::capture

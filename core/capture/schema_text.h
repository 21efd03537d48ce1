// The format for people: the list in docs/capture.md, and SQL that makes an empty capture for
// another program's rows.
#pragma once

#include <string>

namespace triescope::capture {

// A section for each table: every column with its values, its default and its meaning.
std::string schema_markdown();
// Statements that make an empty capture: header, tables, views. Unlike a recorder's tables, these
// check names and ranges, so that a mistake shows where it is made.
std::string schema_sql();

}  // namespace triescope::capture

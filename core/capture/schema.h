// The tables of a .tscap file, one statement a table. Column names are what people query.
#pragma once

#include <span>

namespace triescope::capture {

// Every table with its columns, in creation order.
struct Table {
  const char* name;
  const char* columns;  // "step INTEGER, …"
};
std::span<const Table> tables();

}  // namespace triescope::capture

// Chooses the columns of a table that have room: the least important are left out first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace triescope::viz {

struct ColumnSize {
  float em;
  int importance;
};

// Returns by column whether it stays. Of two equally unimportant columns the first goes.
inline std::vector<bool> columns_that_fit(const std::vector<ColumnSize>& columns, float width_em) {
  std::vector<bool> on(columns.size(), true);
  float used = 0;
  for (const ColumnSize& column : columns) used += column.em;
  while (used > width_em) {
    std::size_t least = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (on[i] && (least == columns.size() || columns[i].importance < columns[least].importance))
        least = i;
    if (least == columns.size()) break;
    on[least] = false;
    used -= columns[least].em;
  }
  return on;
}

}  // namespace triescope::viz

// Names with a number: "layers.12.mlp" behind the prefix "layers." is 12 and "mlp". Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace triescope::formats {

struct IndexedName {
  int index = -1;  // -1: the name has another form
  std::string rest;
};

// Reads `name` as prefix, a number below 10,000 without leading zeros, '.', the rest.
inline IndexedName indexed_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::size_t digits = 0;
  int index = 0;
  while (digits < name.size() && digits < 4 && name[digits] >= '0' && name[digits] <= '9')
    index = index * 10 + (name[digits++] - '0');
  if (digits == 0 || digits == name.size() || name[digits] != '.' || (digits > 1 && name[0] == '0'))
    return {};
  return {index, std::string(name.substr(digits + 1))};
}

// Among names prefix + n + '.' + rest: the largest n + 1; 0 if there is none.
inline int index_count(const std::map<std::string, std::size_t>& names, std::string_view prefix) {
  int count = 0;
  for (const auto& [name, place] : names)
    count = std::max(count, indexed_name(name, prefix).index + 1);
  return count;
}

}  // namespace triescope::formats

#include "core/base/nearest_name.h"

#include <algorithm>
#include <vector>

namespace triescope {
namespace {

// Longer names are not compared: nothing that long is a misspelt name, and the table below takes
// the square of the length.
constexpr std::size_t kMaxNameBytes = 128;

char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

bool begins_with(std::string_view name, std::string_view beginning) {
  return name.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), name.begin(),
                    [](char x, char y) { return folded(x) == folded(y); });
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: the one before the last, the last, and the one being filled.
  std::vector<int> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) up[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
          folded(a[i - 2]) == folded(b[j - 1]))
        row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    std::swap(two_up, up);
    std::swap(up, row);
  }
  return up[b.size()];
}

std::string nearest_name(std::string_view given, std::span<const std::string> names) {
  if (given.empty() || given.size() > kMaxNameBytes) return "";
  const std::string* best = nullptr;
  int best_distance = 0;
  for (const std::string& name : names) {
    if (name.size() > kMaxNameBytes) continue;
    const int distance = edit_distance(given, name);
    if (distance * 3 > static_cast<int>(std::max(given.size(), name.size()))) continue;
    if (best && distance >= best_distance) continue;
    best = &name;
    best_distance = distance;
  }
  if (best) return *best;
  if (given.size() < 2) return "";
  for (const std::string& name : names)
    if (begins_with(name, given) && (!best || name.size() < best->size())) best = &name;
  return best ? *best : "";
}

std::string did_you_mean(std::string_view given, std::span<const std::string> names) {
  const std::string name = nearest_name(given, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace triescope

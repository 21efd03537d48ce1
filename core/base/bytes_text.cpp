#include "core/base/bytes_text.h"

#include <cmath>
#include <cstdio>

namespace triescope {

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (std::abs(bytes) >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text,
                unit == 0 || bytes >= 100 ? "%.0f %s"
                : bytes >= 10             ? "%.1f %s"
                                          : "%.2f %s",
                bytes, kUnits[unit]);
  return text;
}

}  // namespace triescope

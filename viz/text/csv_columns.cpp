#include "viz/text/csv_columns.h"

namespace triescope::viz {

std::string with_columns(const std::string& names, const std::string& values,
                         const std::string& csv, bool with_header) {
  std::string text;
  bool quoted = false, begins = true, is_header = true;
  for (const char c : csv) {
    const bool is_wanted = !is_header || with_header;
    if (begins && is_wanted) text += (is_header ? names : values) + ",";
    quoted ^= c == '"';
    if (is_wanted) text += c;
    begins = c == '\n' && !quoted;
    if (begins) is_header = false;
  }
  return text;
}

}  // namespace triescope::viz

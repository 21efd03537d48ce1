#include "viz/text/csv_columns.h"

#include <sstream>

namespace triescope::viz {

std::string with_columns(const std::string& names, const std::string& values,
                         const std::string& csv, bool with_header) {
  std::istringstream lines(csv);
  std::string text;
  bool is_header = true;
  for (std::string line; std::getline(lines, line); is_header = false)
    if (!is_header || with_header) text += (is_header ? names : values) + "," + line + "\n";
  return text;
}

}  // namespace triescope::viz

// More columns for a CSV table.
#pragma once

#include <string>

namespace triescope::viz {

// `csv` with columns before its own: `names` of them in the header, if it is wanted, `values` in every
// row, both as CSV has them.
std::string with_columns(const std::string& names, const std::string& values,
                         const std::string& csv, bool with_header);

}  // namespace triescope::viz

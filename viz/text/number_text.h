// Numbers as people read them, and fields of CSV tables. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes_text.h"

namespace triescope::viz {

// "0.413", "1.2e-05", "–" for NaN; `digits` after the point.
std::string number_text(double value, int digits = 3);
// A round number below a million, as axes have them, in full: "0.25", "2.5", "30".
std::string round_text(double value);
// Log-probabilities, their sums and the gaps between them: "-0.075", "0.000", "–" for NaN.
std::string logprob_text(double value);
using triescope::bytes_text;             // "1.20 MB"
std::string duration_text(double us);    // "13.2 ms", from microseconds
std::string probability_text(double p);  // "0.87", "<.01", "–" for NaN

// "1st", "2nd", "3rd", "4th", … for a place counted from 0.
std::string ordinal_text(std::int32_t place);

std::string csv_field(std::string_view text);  // quoted where RFC 4180 requires it
// the shortest text that reads back as the same float; NaN: ""
std::string csv_number(double value);
// The same of a number that is a double in the capture.
std::string csv_double(double value);

}  // namespace triescope::viz

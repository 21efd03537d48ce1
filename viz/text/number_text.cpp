#include "viz/text/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace triescope::viz {

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "–";
  char text[48];
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e7)) {
    std::snprintf(text, sizeof text, "%.2g", value);
  } else {
    std::snprintf(text, sizeof text, "%.*f", digits, value);
  }
  return text;
}

std::string round_text(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6g", value == 0 ? 0.0 : value);
  return text;
}

std::string logprob_text(double value) {
  if (std::isnan(value)) return "–";
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", std::abs(value) < 0.0005 ? 0.0 : value);
  return text;
}

std::string duration_text(double us) {
  char text[48];
  if (us < 1000)
    std::snprintf(text, sizeof text, "%.0f µs", us);
  else if (us < 1e6)
    std::snprintf(text, sizeof text, us < 1e5 ? "%.1f ms" : "%.0f ms", us / 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", us / 1e6);
  return text;
}

std::string probability_text(double p) {
  if (std::isnan(p)) return "–";
  return p > 0 && p < 0.005 ? "<.01" : number_text(p, 2);
}

std::string ordinal_text(std::int32_t place) {
  const std::int32_t n = place + 1, tens = n % 100;
  const char* ending = tens >= 11 && tens <= 13 ? "th"
                       : n % 10 == 1            ? "st"
                       : n % 10 == 2            ? "nd"
                       : n % 10 == 3            ? "rd"
                                                : "th";
  return std::to_string(n) + ending;
}

namespace {
template <class Number>
std::string shortest_text(Number value) {
  if (std::isnan(value)) return "";
  char text[48];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
}  // namespace

std::string csv_number(double value) { return shortest_text(static_cast<float>(value)); }
std::string csv_double(double value) { return shortest_text(value); }

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace triescope::viz

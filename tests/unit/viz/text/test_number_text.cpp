#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "viz/text/number_text.h"

namespace test_number_text {

using namespace triescope::viz;

namespace {
const double kNone = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("numbers: fixed digits, and powers of ten where those would say nothing") {
  CHECK(number_text(0.4126) == "0.413");
  CHECK(number_text(-0.4126) == "-0.413");
  CHECK(number_text(0) == "0.000");
  CHECK(number_text(12.5, 1) == "12.5");
  CHECK(number_text(2, 0) == "2");
  CHECK(number_text(0.001) == "0.001");
  CHECK(number_text(0.001, 5) == "0.00100");
  CHECK(number_text(0.000999) == "0.001");  // 0.0010 in two digits
  CHECK(number_text(0.00012) == "0.00012");
  CHECK(number_text(-1.24e-5) == "-1.2e-05");
  CHECK(number_text(9999999) == "9999999.000");
  CHECK(number_text(1e7) == "1e+07");
  CHECK(number_text(-1e7) == "-1e+07");
  CHECK(number_text(kNone) == "–");
}

TEST_CASE("bytes: powers of 1000, three figures") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "1.00 KB");
  CHECK(bytes_text(9940) == "9.94 KB");
  CHECK(bytes_text(10000) == "10.0 KB");
  CHECK(bytes_text(99900) == "99.9 KB");
  CHECK(bytes_text(100000) == "100 KB");
  CHECK(bytes_text(2.5e6) == "2.50 MB");
  CHECK(bytes_text(7e9) == "7.00 GB");
  CHECK(bytes_text(1e12) == "1.00 TB");
  CHECK(bytes_text(3e15) == "3000 TB");  // there is no larger unit
}

TEST_CASE("durations: microseconds, milliseconds, seconds") {
  CHECK(duration_text(0) == "0 µs");
  CHECK(duration_text(999) == "999 µs");
  CHECK(duration_text(1000) == "1.0 ms");
  CHECK(duration_text(13240) == "13.2 ms");
  CHECK(duration_text(99940) == "99.9 ms");
  CHECK(duration_text(100000) == "100 ms");
  CHECK(duration_text(999400) == "999 ms");
  CHECK(duration_text(1e6) == "1.00 s");
  CHECK(duration_text(61.25e6) == "61.25 s");
}

TEST_CASE("probabilities: two digits, and never 0 for what is not 0") {
  CHECK(probability_text(1) == "1.00");
  CHECK(probability_text(0.874) == "0.87");
  CHECK(probability_text(0.0051) == "0.01");
  CHECK(probability_text(0.0049) == "<.01");
  CHECK(probability_text(1e-12) == "<.01");
  CHECK(probability_text(0) == "0.00");
  CHECK(probability_text(kNone) == "–");
}

TEST_CASE(
    "number text: CSV numbers read back as the same float, CSV fields are quoted where they must be") {
  CHECK(csv_number(0.1f) == "0.1");
  CHECK(csv_number(-2.5) == "-2.5");
  CHECK(std::stof(csv_number(1.0f / 3)) == 1.0f / 3);
  CHECK(csv_number(kNone) == "");
  CHECK(csv_field("plain text; no more") == "plain text; no more");
  CHECK(csv_field("") == "");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"so\"") == "\"say \"\"so\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("a\rb") == "\"a\rb\"");
}

}  // namespace test_number_text

// The functions of numbers that every expression knows, whatever it is about. Pure.
#pragma once

#include <span>
#include <string_view>

namespace triescope::lessons {

struct NumberFunction {
  std::string_view name;
  std::string_view usage;  // for messages: "min(A, B)"
  int arguments = 1;
  double (*of)(std::span<const double> arguments);
};
std::span<const NumberFunction> number_functions();

}  // namespace triescope::lessons

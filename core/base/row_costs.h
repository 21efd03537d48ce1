// RowCosts: what the rows of a forward cost on a device.
#pragma once

#include <cmath>

namespace triescope {

// They follow from the shape of the kernels and the type of the weights, not from a measurement:
// what is drafted must not depend on the moment.
struct RowCosts {
  // Number of rows at little more than the cost of one: drafting methods fill this many unless they
  // are given a number.
  int cheap_rows = 33;
  // The cost of further rows, in forwards of one row: the second, each up to cheap_rows, each
  // beyond.
  double second_row = 1.0 / 33;
  double cheap_row = 1.0 / 33;
  double dear_row = 1.0 / 33;
  // The share of a one-row forward that goes into its experts' weights, and the share of a layer's
  // experts that a row chooses: a further row also pays for reading the experts that no earlier row
  // chose. 0 = every row goes through the same weights.
  double of_experts = 0, chosen = 1;

  // Cost of the row at place `place`; 0 = the first.
  double of(int place) const {
    if (place == 0) return 1;
    const double row = place == 1 ? second_row : place < cheap_rows ? cheap_row : dear_row;
    return row + of_experts * std::pow(1 - chosen, place);
  }
};

}  // namespace triescope

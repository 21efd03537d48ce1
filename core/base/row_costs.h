// RowCosts: what the rows of a forward cost on a device.
#pragma once

#include <cmath>

namespace triescope {

// By the shape of the kernels and the type of the weights, not by a measurement: what is drafted must
// not depend on the moment.
struct RowCosts {
  // Rows a forward can have at little more than the cost of one: drafting methods fill this many
  // unless they are given a number.
  int cheap_rows = 33;
  // What further rows cost, in forwards of one row: the second, each up to cheap_rows, each beyond.
  double second_row = 1.0 / 33;
  double cheap_row = 1.0 / 33;
  double dear_row = 1.0 / 33;
  // What a forward of one row spends on its experts' weights, and the part of a layer's experts that a
  // row chooses: a further row also costs the reading of those that no row before it chose. 0 = every
  // row goes through the same weights.
  double of_experts = 0, chosen = 1;

  // Of the row at place `place`, 0 = the first.
  double of(int place) const {
    if (place == 0) return 1;
    const double row = place == 1 ? second_row : place < cheap_rows ? cheap_row : dear_row;
    return row + of_experts * std::pow(1 - chosen, place);
  }
};

}  // namespace triescope

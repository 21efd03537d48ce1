// RowCosts: what the rows of a forward cost on a device.
#pragma once

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

  // Of the row at place `place`, 0 = the first.
  double of(int place) const {
    if (place < 2) return place == 0 ? 1 : second_row;
    return place < cheap_rows ? cheap_row : dear_row;
  }
};

}  // namespace triescope

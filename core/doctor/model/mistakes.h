// The mistakes that decoders make with a row, each as a change of what the row is computed from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/doctor/model/recorded_row.h"

namespace triescope::doctor {

// The input of a row; the last cell is the row itself.
struct RowSetup {
  std::vector<Cell> cells;
  std::int32_t prompt = 0;        // tokens of it
  bool has_rope_scaling = true;   // false: computed by the model without it
  bool has_temperature = false;   // one is fitted to the recorded numbers
  double repetition_penalty = 1;  // of the tokens in `cells`
};

struct Mistake {
  std::string name;  // "its sibling node 14 (' a') is seen"
  std::function<void(RowSetup&)> make;
};

// Those that are possible for this row. `bos`: the model's, -1 = none.
std::vector<Mistake> mistakes_of(const RunView& run, const RecordedRow& row, std::int32_t bos,
                                 bool has_rope_scaling);

}  // namespace triescope::doctor

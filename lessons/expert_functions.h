// The functions of expressions about a mixture of experts: what a row chose, and the weights that a step read.
#pragma once

#include "lessons/arguments.h"

namespace triescope::lessons {

// (NODE, LAYER, I): of the experts that the node's row chose in a layer, the number of the one that counts for
// the I-th most, and how much it counts for.
Value expert(const Arguments& a);
Value expert_weight(const Arguments& a);
// (ROWS): different experts a layer that ROWS rows go through if each chooses freely.
Value experts_of_rows(const Arguments& a);
// (STEP): bytes of weights that its forward read, and those that it would have read for its first row alone.
Value weights_read(const Arguments& a);
Value weights_alone(const Arguments& a);

}  // namespace triescope::lessons

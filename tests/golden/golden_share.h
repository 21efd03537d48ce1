// How much of the references is compared: $TRIESCOPE_GOLDEN.
#pragma once

#include <cstddef>

#include "tests/support/paths.h"

namespace triescope::test {

// "all": every run, with every KV policy.
inline bool everything() { return environment("TRIESCOPE_GOLDEN", "") == "all"; }
// "few": of each kind the first and then each 25th, as under a sanitizer, where a run takes minutes.
inline bool only_few() { return environment("TRIESCOPE_GOLDEN", "") == "few"; }
inline bool is_left_out(std::size_t n) { return only_few() && n % 25 != 0; }

}  // namespace triescope::test

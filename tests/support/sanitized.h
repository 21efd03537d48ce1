// Whether a sanitizer watches this program: everything is tens of times slower then.
#pragma once

#include "tests/support/skip.h"

namespace triescope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace triescope::test

// For tests that run CUDA source on the CPU stand-in.
#define TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS()                                              \
  do {                                                                                        \
    if (::triescope::test::kSanitized)                                                        \
      TRIESCOPE_SKIP("a block's threads are fibres here, and sanitizers do not follow them"); \
  } while (false)

// Whether a sanitizer watches this program: everything is tens of times slower then.
#pragma once

namespace triescope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace triescope::test

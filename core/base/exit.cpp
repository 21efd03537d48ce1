#include "core/base/exit.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace triescope {

void skip_library_teardown() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Functions that are registered now run after the destructors of later objects, and before those of earlier ones.
  ::on_exit(
      [](int code, void*) {
        std::cout.flush();
        std::fflush(nullptr);
        std::_Exit(code);
      },
      nullptr);
#endif
}

}  // namespace triescope

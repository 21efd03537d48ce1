// Fibres: pieces of a program that take turns on one thread, each on a stack of its own. Sanitizers
// follow them: to ThreadSanitizer each fibre is a thread, and going from one to another orders
// nothing; what is ordered it is told (happens_before, happens_after).
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

#include "tests/support/sanitized.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// Of what all fibres use in turn, which is theirs together and no race; and of functions that are left
// on another stack than they were entered on.
#define TRIESCOPE_UNWATCHED __attribute__((no_sanitize("address", "thread")))

namespace triescope::test {

// A place of execution to leave and to come back to: a fibre's, or the one of the thread that runs
// them all. swapcontext() asks the kernel for the signal mask at every switch, and a block switches
// thousands of times: so a context only begins a stack's first fibre, and the compiler's own jumps go on
// with it where they are known to work.
struct Fibre {
  ucontext_t context;  // set by getcontext()
  void* jump[5] = {};
  bool begun = false;
  Fibre* rest = nullptr;        // where its stack waits for the next fibre
  const void* stack = nullptr;  // its lowest address
  std::size_t stack_bytes = 0;
  void* sanitizer_stack = nullptr;   // AddressSanitizer's, while the fibre does not run
  const void* left_stack = nullptr;  // AddressSanitizer's: the stack of who switched here last
  std::size_t left_bytes = 0;
  void* sanitizer_thread = nullptr;  // ThreadSanitizer's
};

// To be called where a fibre begins or goes on, before it does anything else.
TRIESCOPE_UNWATCHED inline void arrived([[maybe_unused]] Fibre& fibre) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fibre.sanitizer_stack, &fibre.left_stack, &fibre.left_bytes);
#endif
}

// Leaves `from` until somebody switches to it.
[[gnu::noinline]] TRIESCOPE_UNWATCHED inline void switch_fibres(Fibre& from, Fibre& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack, to.stack_bytes);
#endif
#if defined(__x86_64__)
  if (__builtin_setjmp(from.jump) != 0) return arrived(from);
  from.begun = true;
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.sanitizer_thread, __tsan_switch_to_fiber_no_sync);
#endif
  if (to.begun) __builtin_longjmp(to.jump, 1);
  setcontext(&to.context);
#else
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.sanitizer_thread, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&from.context, &to.context);
  arrived(from);
#endif
}

// Where the calling thread is.
inline Fibre this_place() {
  Fibre here;
#if defined(__SANITIZE_THREAD__)
  here.sanitizer_thread = __tsan_get_current_fiber();
#endif
  return here;
}

// What was done before the one, in any fibre, happens before what is done after the other at the same
// address.
TRIESCOPE_UNWATCHED inline void happens_before([[maybe_unused]] void* at) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(at);
#endif
}
TRIESCOPE_UNWATCHED inline void happens_after([[maybe_unused]] void* at) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(at);
#endif
}

// A stack, and what ThreadSanitizer calls a thread: costly to make, so used by one fibre after another.
class FibreStack {
 public:
  FibreStack() : memory_(std::make_unique_for_overwrite<char[]>(kBytes)) {
#if defined(__SANITIZE_THREAD__)
    thread_ = __tsan_create_fiber(0);
#endif
  }
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;
  ~FibreStack() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(thread_);
#endif
  }

  // Makes `fibre` one that calls run() once it is switched to. run() calls
  // arrived(*fibre.rest) once; from then on it works, switches from *fibre.rest, and does so again where it is
  // switched to again.
  void begin(Fibre& fibre, void (*run)()) {
    fibre.rest = &rest_;
    fibre.stack = memory_.get();
    fibre.stack_bytes = kBytes;
    fibre.sanitizer_thread = thread_;
    fibre.begun = rest_.begun;
    if (rest_.begun) {
      std::copy(std::begin(rest_.jump), std::end(rest_.jump), fibre.jump);
      return;
    }
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = memory_.get();
    fibre.context.uc_stack.ss_size = kBytes;
    makecontext(&fibre.context, run, 0);
  }

 private:
  static constexpr std::size_t kBytes = (kSanitized ? 256 : 64) << 10;

  std::unique_ptr<char[]> memory_;
  void* thread_ = nullptr;
  Fibre rest_;
};

}  // namespace triescope::test

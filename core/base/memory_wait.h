// What a run does where memory is refused in the middle of it: it asks whoever drives it, who may
// wait until some is free and have the same work tried again.
#pragma once

#include <functional>
#include <new>

#include "core/base/error.h"

namespace triescope {

// Called on the thread of the run, with Error{kOutOfMemory}. True: try the same work again; false:
// the run fails with that error. May throw, which ends the run so: Error{kCancelled}, say.
// Empty = false.
using MemoryWait = std::function<bool(const Error& refused)>;

// Does `work`, again and again while memory is refused and `wait` says so. REQUIRES: work that was
// refused memory can be done again from the start.
template <class Work>
auto with_memory(const MemoryWait& wait, const Work& work) {
  while (true) {
    try {
      return work();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory || !wait || !wait(error)) throw;
    } catch (const std::bad_alloc&) {
      if (!wait || !wait(Error(ErrorCode::kOutOfMemory, "host memory ran out"))) throw;
    }
  }
}

}  // namespace triescope

// How a run behaves when memory is refused in the middle of it: it asks whoever drives it, who may
// wait until some is free and then have the same work tried again.
#pragma once

#include <functional>
#include <new>

#include "core/base/error.h"

namespace triescope {

// Called on the run's thread with Error{kOutOfMemory}. True: try the same work again; false: the
// run fails with that error. It may throw, for example Error{kCancelled}, which ends the run that
// way. Empty = false.
using MemoryWait = std::function<bool(const Error& refused)>;

// Does `work`, and repeats it while memory is refused and `wait` returns true. REQUIRES: work that
// was refused memory can be repeated from the start.
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

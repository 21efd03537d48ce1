// What is thrown while the stand-in refuses launches.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace triescope::test {

// The error of work() while launches fail as `refusal` says ($TRIESCOPE_CUDA_STAND_IN_ERROR,
// cuda_stand_in.h); none where it throws none.
template <class Work>
std::optional<Error> error_of_failing_launches(const char* refusal, const Work& work) {
  std::optional<Error> thrown;
  ::setenv("TRIESCOPE_CUDA_STAND_IN_ERROR", refusal, 1);
  try {
    work();
  } catch (const Error& error) {
    thrown.emplace(error.code(), error.what());
  }
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_ERROR");
  return thrown;
}

}  // namespace triescope::test

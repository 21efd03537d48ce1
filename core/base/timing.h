// Measures the wall time of pieces of work.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

namespace triescope {

inline double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shortest of `repeats` runs, because other work on the machine only ever adds time.
inline double shortest(int repeats, const std::function<void()>& work) {
  double least = seconds(work);
  for (int i = 1; i < repeats; ++i) least = std::min(least, seconds(work));
  return least;
}

}  // namespace triescope

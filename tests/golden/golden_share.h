// How much of the references is compared: $TRIESCOPE_GOLDEN.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace triescope::test {

inline std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// "all": every run, with every KV policy.
inline bool everything() { return environment("TRIESCOPE_GOLDEN", "") == "all"; }
// "few": of each kind the first and then each 25th, as under a sanitizer, where a run takes minutes.
inline bool only_few() { return environment("TRIESCOPE_GOLDEN", "") == "few"; }
inline bool is_left_out(std::size_t n) { return only_few() && n % 25 != 0; }

}  // namespace triescope::test

// TRIESCOPE_TEST_DEVICE: the device that the goldens' models are loaded on; not given: "cpu".
#pragma once

#include <cstdlib>
#include <string>

namespace triescope::test {

inline std::string test_device() {
  const char* given = std::getenv("TRIESCOPE_TEST_DEVICE");
  return given == nullptr ? "cpu" : given;
}

}  // namespace triescope::test

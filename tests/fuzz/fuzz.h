// What every fuzz target shares. A target is one LLVMFuzzerTestOneInput() in fuzz_<name>.cpp:
// libFuzzer drives it in the `fuzz` preset, replay.cpp runs its corpus in every other build. It
// calls the function that the program calls. Only triescope::Error may come out of that function:
// whatever else is thrown ends the program, which is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace triescope::fuzz {

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs `body`; a refusal is a good answer.
template <class Body>
void tolerate_refusal(Body body) {
  try {
    body();
  } catch (const Error&) {
  }
}

}  // namespace triescope::fuzz

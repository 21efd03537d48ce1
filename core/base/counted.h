// A number with its noun: "1 row", "2 rows". Every text that counts something uses it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace triescope {

// `one` is the singular; the plural gets an s. counted(0, "live path") = "0 live paths".
inline std::string counted(std::int64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// The overload for unsigned sizes, which would not convert without a warning.
inline std::string counted(std::size_t count, const std::string& one) {
  return counted(static_cast<std::int64_t>(count), one);
}
inline std::string counted(int count, const std::string& one) {
  return counted(static_cast<std::int64_t>(count), one);
}

}  // namespace triescope

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/buffer.h"

namespace triescope::kernels {
namespace {

bool is_zero(const Buffer& buffer) {
  const auto* bytes = buffer.as<const unsigned char>();
  return std::all_of(bytes, bytes + buffer.bytes(), [](unsigned char b) { return b == 0; });
}

TEST_CASE("buffer: it is zero and aligned, whatever lay there before, and moves") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{5000},
                                  (std::size_t{4} << 20) - 1, (std::size_t{4} << 20) + 1}) {
    CAPTURE(bytes);
    const std::size_t alignment = bytes >= std::size_t{4} << 20 ? std::size_t{2} << 20 : 64;
    for (int round = 0; round < 3; ++round) {
      Buffer buffer(bytes);
      CHECK(buffer.bytes() == bytes);
      CHECK_FALSE(buffer.empty());
      CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0);
      REQUIRE(is_zero(buffer));
      std::memset(buffer.data(), 0xff, bytes);
      const void* const place = buffer.data();
      const Buffer moved = std::move(buffer);
      CHECK(moved.data() == place);
      CHECK(moved.bytes() == bytes);
    }
  }
  CHECK(Buffer().empty());
  CHECK(Buffer(0).data() == nullptr);
}

TEST_CASE("buffer: a buffer that no machine has is refused with its size") {
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 4}) {
    const std::string words = "out of memory: " + std::to_string(bytes) + " bytes";
    CHECK_THROWS_WITH_AS(Buffer{bytes}, doctest::Contains(words.c_str()), Error);
  }
}

}  // namespace
}  // namespace triescope::kernels

// base64, both ways.
#include <doctest/doctest.h>

#include <string>

#include "core/base/base64.h"

namespace triescope::test_base64 {

TEST_CASE("base64: RFC 4648's examples, both ways") {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
  }
}

TEST_CASE("base64: every byte comes back") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  CHECK(from_base64(to_base64(bytes)) == bytes);
  CHECK_FALSE(from_base64("Zm9v!"));
}

}  // namespace triescope::test_base64

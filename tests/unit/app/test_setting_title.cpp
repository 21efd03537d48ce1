#include <doctest/doctest.h>

#include "app/run/setting_title.h"

namespace triescope::app::test_setting_title {

TEST_CASE("a setting of a run has its parameter's title, common ones too") {
  CHECK(setting_title("beam", "num_beams") == "Beams");
  CHECK(setting_title("greedy", "kv") == "KV Policy");
  CHECK(setting_title("lookahead", "window_size") == "Window Size");
}

TEST_CASE("what this version does not know has no title") {
  CHECK(setting_title("beam", "from_a_later_version").empty());
  CHECK(setting_title("greedy", "num_beams").empty());
  CHECK(setting_title("a_method_of_ones_own", "num_beams").empty());
}

}  // namespace triescope::app::test_setting_title

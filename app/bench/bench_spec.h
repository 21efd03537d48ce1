// The name of a row of the drafting table, taken apart: "eagle2:draft_tokens=20:draft_levels=4".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace triescope::app {

struct BenchSpec {
  std::string method;
  nlohmann::json settings;  // {"draft_tokens": "20", "draft_levels": "4"}
};
// Error{kInvalidArgument}: a part without a name or a value; the message names it and what was
// expected.
BenchSpec bench_spec(const std::string& text);

}  // namespace triescope::app

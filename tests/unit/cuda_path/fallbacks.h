// Which models of model_families.json have steps that no kernel of ours computes, and that run on
// libtorch's operations.
#pragma once

#include <algorithm>
#include <string>

namespace triescope::test {

// By reason, 'x' where the warning gives it: norms after a branch, q and k over all heads, q and k
// by layer norm. "" for no warning; '!' at the end where it gives another reason too.
inline std::string reasons_of(const std::string& warning) {
  std::string found;
  for (const char* reason :
       {"this model what leaves it", "this model over all heads", "this model by layer norm"})
    found += warning.find(reason) != std::string::npos ? 'x' : '.';
  const auto parts = std::count(warning.begin(), warning.end(), ';') + 1;
  if (parts != std::count(found.begin(), found.end(), 'x')) found += '!';
  return warning.empty() ? "" : found;
}

inline std::string expected_reasons(const std::string& name) {
  if (name.starts_with("gpt_oss")) return "...!";  // its attention sinks and its activation
  if (name.starts_with("gemma4")) return "...!";   // its norm of v
  if (name.starts_with("lfm2")) return "...!";     // its convolutions
  if (name.starts_with("olmoe")) return ".x.";
  if (name.starts_with("olmo")) return "xx.";
  if (name.starts_with("exaone4")) return "x..";
  return name.find("norms on q and k") != std::string::npos ? "..x" : "";
}

}  // namespace triescope::test

// The settings with which a model's makers want it decoded: generation_config.json, which
// transformers' generate() uses when it is given no others.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace triescope {

struct GenerationSettings {
  // A method's parameter, and its value as text. Settings that change nothing are left out.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> not_done;  // asked for, but supported by no method
};

}  // namespace triescope

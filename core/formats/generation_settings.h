// What a model's makers want it decoded with: generation_config.json, which transformers'
// generate() uses where it is given no others.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace triescope {

struct GenerationSettings {
  // Parameter of a method, and its value as text; those that change nothing are left out.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> not_done;  // asked for, but no method has them
};

}  // namespace triescope

// words: splits a text at its spaces, without empty words.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace triescope {

inline std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

}  // namespace triescope

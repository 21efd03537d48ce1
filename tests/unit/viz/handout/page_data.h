// The parts of a handout's page, taken apart again.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace triescope::test {

// What stands between the first `from` and the next `to`.
inline std::string between(const std::string& text, const std::string& from,
                           const std::string& to) {
  const auto begin = text.find(from);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find(to, begin + from.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + from.size(), end - begin - from.size());
}

inline nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(
      between(page, "<script type=\"application/json\" id=\"run\">", "</script>"));
}

// As pictures.js reads them.
inline std::vector<std::size_t> numbers_of(const nlohmann::json& stretches) {
  std::vector<std::size_t> numbers;
  std::ptrdiff_t at = 0;
  for (std::size_t i = 0; i < stretches.size(); i += 2) {
    at += stretches[i].get<std::ptrdiff_t>();
    for (const auto end = at + stretches[i + 1].get<std::ptrdiff_t>(); at < end; ++at)
      numbers.push_back(static_cast<std::size_t>(at));
  }
  return numbers;
}

// The texts of a pane's picture, joined by '|'.
inline std::string texts_of(const nlohmann::json& page, const nlohmann::json& pane,
                            std::size_t step) {
  std::string out;
  for (const std::size_t number : numbers_of(pane["pictures"][step]))
    if (const auto& look = page["looks"].at(pane["elements"].at(3 * number).get<std::size_t>());
        look[0] == 6)
      out += look[5].get<std::string>() + "|";
  return out;
}

}  // namespace triescope::test

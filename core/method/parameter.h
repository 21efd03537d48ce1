// Parameter: one setting of a method, described once. The run bar builds a control from it, the
// command line reads --set by it, and tests try its range. Its default is stated only here.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace triescope {

enum class ParameterKind : std::uint8_t {
  kInteger,
  kNumber,
  kBoolean,
  kChoice,
  kText,
  kIntegerList
};

struct Parameter {
  std::string name;   // Hugging Face's name where it has one
  std::string title;  // what people call it, in title case: "Beams"
  ParameterKind kind = ParameterKind::kInteger;
  nlohmann::json default_value;
  double minimum = -std::numeric_limits<double>::infinity();  // inclusive
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  // kChoice
  std::string help;           // sentences; the first says by itself what it does, formulas follow
  std::string zero_is = {};   // what 0 stands for, in a word that can be given too: "auto"
  std::string empty_is = {};  // what an empty text or list stands for: "the model's own"
  std::string below = {};     // what a value below the minimum would mean, and how to ask for that
};

// One function for each kind: name, title, default, range (inclusive), help.
Parameter integer(std::string name, std::string title, std::int64_t otherwise, std::int64_t minimum,
                  std::int64_t maximum, std::string help);
Parameter number(std::string name, std::string title, double otherwise, double minimum,
                 double maximum, std::string help);
Parameter boolean(std::string name, std::string title, bool otherwise, std::string help);
Parameter choice(std::string name, std::string title, std::string otherwise,
                 std::vector<std::string> choices, std::string help);
Parameter text(std::string name, std::string title, std::string otherwise, std::string help);
// The same, with a word for 0, or for a text or list that is empty.
Parameter zero_is(std::string word, Parameter parameter);
Parameter empty_is(std::string word, Parameter parameter);
// Empty unless given; the range holds for each entry.
Parameter integer_list(std::string name, std::string title, std::int64_t minimum,
                       std::int64_t maximum, std::string help);

// The word for a value, of the parameter's type, that stands for something else than itself: "auto";
// "" = the value says it.
std::string word_of(const Parameter& parameter, const nlohmann::json& value);

}  // namespace triescope

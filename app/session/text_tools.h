// Short texts, and lists of them, for the command line and the window. Functions without state.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/method/method.h"

namespace triescope::app {

// ASCII letters in lower case, everything else as it is.
std::string lower(std::string text);

// The names between a list's commas, without empty ones.
std::vector<std::string> listed_names(const std::string& list);

// The index of `name` in the list; appends it if it is not there.
std::size_t place_of(std::vector<std::string>& list, const std::string& name);

// A value as --set takes it: JSON, and 0 by its word where it has one: "auto".
std::string value_text(const Parameter& parameter, const nlohmann::json& value);

// The values that a parameter may have: "1 to 256", "at least 0", "true|false|never"; "" = anything.
std::string range_text(const Parameter& parameter);

}  // namespace triescope::app

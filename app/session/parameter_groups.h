// A method's parameters in the groups in which a person looks for them, and which of them have no
// effect with the current settings. Groups follow from the lists of which methods are composed
// (warpers, logits processors, verification), so a new method needs nothing here.
#pragma once

#include <string>
#include <vector>

#include "core/method/method.h"

namespace triescope::app {

struct ParameterGroup {
  std::string title;  // "Drafting", "Search", "Verification", "Sampling", ...
  std::vector<Parameter> parameters;
  bool folded = false;  // seldom changed: closed unless something in it is set
};

// Every parameter of the method and those of every method, each once; no group is empty. `kv` has
// the method's own choices.
std::vector<ParameterGroup> parameter_groups(const MethodInfo& method);

// Why `name` has no effect with these settings (missing ones have their defaults); "" = it has one.
std::string no_effect_because(const MethodInfo& method, const std::string& name,
                              const nlohmann::json& settings);

// Why a run would refuse this value of the parameter: "expected a number from 0.01 to 100; found 0
// (0 is greedy decoding: …)"; "" = it would not.
std::string why_refused(const Parameter& parameter, const nlohmann::json& value);

}  // namespace triescope::app

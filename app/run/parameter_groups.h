// The parameters of a method in the groups that a person looks for them in, and which of them have no
// effect with the settings as they are. Membership follows from the lists that methods are composed
// of (warpers, logits processors, verification), so a new method needs nothing here.
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

// Why `name` has no effect beside these settings (defaults where they name nothing); "" = it has one.
std::string no_effect_because(const MethodInfo& method, const std::string& name,
                              const nlohmann::json& settings);

// Why a run would refuse this value of the parameter: "expected a number from 0.01 to 100; found 0
// (0 is greedy decoding: …)"; "" = it would not.
std::string why_refused(const Parameter& parameter, const nlohmann::json& value);

}  // namespace triescope::app

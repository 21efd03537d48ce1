// Every parameter that a run of a method takes.
#pragma once

#include <vector>

#include "core/method/method.h"

namespace triescope {

// The method's own, then those of every method (common_parameters()); kv has the policies that go with
// the method, the first one its default.
std::vector<Parameter> parameters_of(const MethodInfo& method);

}  // namespace triescope

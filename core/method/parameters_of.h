// Every parameter that a run of a method takes.
#pragma once

#include <vector>

#include "core/method/method.h"

namespace triescope {

// The method's own parameters, then those of every method (common_parameters()). kv offers the
// policies that go with the method, the first as its default.
std::vector<Parameter> parameters_of(const MethodInfo& method);

}  // namespace triescope

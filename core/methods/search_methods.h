// The methods that search, for the registry. Each function is in a file of the same
// name.
#pragma once

#include "core/method/method.h"

namespace triescope {

MethodInfo greedy_method();            // greedy.cpp
MethodInfo beam_method();              // beam.cpp
MethodInfo batch_beam_method();        // batch_beam.cpp
MethodInfo sample_then_beam_method();  // sample_then_beam.cpp
MethodInfo speculative_beam_method();  // speculative_beam.cpp

}  // namespace triescope

// The list of decoding methods.
#pragma once

#include <span>
#include <string>

#include "core/method/method.h"

namespace triescope {

// All methods, in display order. Never changes.
std::span<const MethodInfo> methods();
// Error{kInvalidArgument}: lists the names there are, and the one most likely meant.
const MethodInfo& find_method(const std::string& name);

}  // namespace triescope

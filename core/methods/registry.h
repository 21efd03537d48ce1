// The list of decoding methods.
#pragma once

#include <span>
#include <string>

#include "core/method/method.h"

namespace triescope {

// All methods, in display order. Never changes.
std::span<const MethodInfo> methods();
// Error{kInvalidArgument}: lists the names that exist, and the one most likely meant.
const MethodInfo& find_method(const std::string& name);
// The names of the methods that take heads of this kind: "eagle or eagle2".
std::string methods_for(formats::HeadKind kind);
// Error{kInvalidArgument}: the method does not take heads of this kind; the message names those
// that do.
void check_head_kind(const MethodInfo& method, formats::HeadKind kind);

}  // namespace triescope

// What an expression says of a name that it does not know. Pure.
#pragma once

#include "lessons/expression.h"
#include "lessons/expression_lexer.h"

namespace triescope::lessons {

// Error{kCorruption}: "column 7: 'acepted' is not …; did you mean accepted?; …".
[[noreturn]] void refuse_name(const ExpressionToken& token, const Names& names);

}  // namespace triescope::lessons

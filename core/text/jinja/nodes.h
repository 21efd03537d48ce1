// The syntax tree of a parsed template. Internal to core/text/jinja.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/text/jinja/value.h"

namespace triescope::jinja {

enum class Op : std::uint8_t {
  // statements
  kBlock,
  kText,
  kPrint,
  kFor,
  kIf,
  kSet,
  kSetBlock,
  kScope,
  kFilterBlock,
  kMacro,
  kBreak,
  kContinue,
  // expressions
  kLiteral,
  kCaptured,  // output of a set or filter block
  kName,
  kList,
  kTuple,
  kDict,
  kAttribute,
  kIndex,
  kSlice,
  kCall,
  kFilter,
  kTest,
  kNot,
  kNegate,
  kPlus,
  kAnd,
  kOr,
  kBinary,
  kCompare,
  kTernary,
};

struct Node {
  Op op = Op::kBlock;
  int line = 0;
  int depth = 0;                                // depth of an expression's tree below the node
  std::string text;                             // name, operator, filter, text
  Value value;                                  // kLiteral
  std::vector<std::shared_ptr<Node>> children;  // operands, in order; null = left out
  std::vector<std::pair<std::string, std::shared_ptr<Node>>>
      named;                                     // keyword arguments, macro defaults
  std::vector<std::string> names;                // loop variables, set targets, macro parameters
  std::shared_ptr<Node> body, other, condition;  // blocks; for: body, else, filter
};

[[noreturn]] void refuse(int line, const std::string& what);  // throws Error{kNotSupported}

}  // namespace triescope::jinja

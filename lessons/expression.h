// Expressions of lessons: they compute a question's answer, a task's condition and a number in the
// text. They have no loops, definitions or state: a text of at most kMostBytes is parsed once, and
// costs a few questions to the capture each time.
//
//   expression = conjunction { "or" conjunction }
//   conjunction = negation { "and" negation }
//   negation   = "not" negation | comparison
//   comparison = sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=" | "holds") sum ]
//   sum        = product { ("+" | "-") product }
//   product    = sign { ("*" | "/") sign }
//   sign       = "-" sign | operand
//   operand    = NUMBER | TEXT | "true" | "false" | "beam" operand
//              | NAME [ "(" expression { "," … } ")" ] | "(" expression ")"
//
// TEXT is in " or '. trace.h has the names of a run, and docs/lessons.md explains them; whoever
// parses an expression may add names of single values, such as a table's columns. Lesson files are
// untrusted: texts and nesting are limited, and everything else is refused with its column.
// Immutable once parsed; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::lessons {

// The names that an expression may use, beside min, max, abs and round.
struct Names {
  bool of_run = true;  // paths, series and functions of a run (trace.h)
  std::span<const std::string> variables = {};
  // Names that take a text: of metric("x") the variable is asked for as "metric:x".
  std::span<const std::string> keyed = {};
  std::string kind = "a name of expressions";  // for messages
  std::string listed = "docs/lessons.md lists them";
};

class Expression {
 public:
  static constexpr std::size_t kMostBytes = 500;
  static constexpr int kMostDepth = 40;

  // Error{kCorruption}: "column 7: expected …; found …".
  static Expression parse(std::string_view text, const Names& names = {});

  enum class Op : std::uint8_t {
    kNumber,
    kText,
    kTruth,
    kPath,
    kCall,
    kCompute,
    kVariable,
    kSeries,
    kSeriesAt,
    kNegate,
    kNot,
    kAnd,
    kOr,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kEqual,
    kUnequal,
    kLess,
    kAtMost,
    kMore,
    kAtLeast,
    kHolds  // a text holds another
  };
  struct Node {
    Op op = Op::kNumber;
    double number = 0;
    bool truth = false;
    std::string text = {};  // kText; kVariable: its name
    std::size_t index = 0;  // kCall, kCompute, kSeries, kSeriesAt: index in the list of names
    std::vector<std::size_t> operands = {};
    std::size_t column = 1;
  };
  const std::string& text() const { return text_; }
  // operands come before the node that uses them
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& root() const { return nodes_.back(); }

 private:
  std::string text_;
  std::vector<Node> nodes_;
};

}  // namespace triescope::lessons

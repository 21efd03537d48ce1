#include <cmath>

#include "core/base/error.h"
#include "lessons/number_functions.h"
#include "lessons/trace.h"

namespace triescope::lessons {
namespace {

using Op = Expression::Op;
using Node = Expression::Node;

[[noreturn]] void refuse(std::size_t column, const std::string& why) {
  throw Error(ErrorCode::kCorruption, "column " + std::to_string(column) + ": " + why);
}

template <class Kind>
const Kind& need(const Value& value, const char* expected, std::size_t column) {
  if (const Kind* const found = std::get_if<Kind>(&value)) return *found;
  refuse(column, std::string("expected ") + expected + "; found " + kind_of(value));
}

double number_of(const Value& value, std::size_t column) {
  return need<double>(value, "a number", column);
}
bool truth_of(const Value& value, std::size_t column) {
  return need<bool>(value, "true or false", column);
}

bool compares(Op op, const Value& a, const Value& b, std::size_t column) {
  if (a.index() != b.index() || std::holds_alternative<SeriesRef>(a))
    refuse(column, std::string("cannot compare ") + kind_of(a) + " with " + kind_of(b));
  if (op == Op::kEqual) return same_value(a, b);
  if (op == Op::kUnequal) return !same_value(a, b);
  if (op == Op::kHolds)
    return need<std::string>(a, "a text", column).find(need<std::string>(b, "a text", column)) !=
           std::string::npos;
  const double x = number_of(a, column), y = number_of(b, column);
  if (op == Op::kLess) return x < y && !same_value(a, b);
  if (op == Op::kAtMost) return x < y || same_value(a, b);
  if (op == Op::kMore) return x > y && !same_value(a, b);
  return x > y || same_value(a, b);
}

double computed(Op op, double a, double b, std::size_t column) {
  if (op == Op::kAdd) return a + b;
  if (op == Op::kSubtract) return a - b;
  if (op == Op::kMultiply) return a * b;
  if (b == 0) refuse(column, "division by zero");
  return a / b;
}

// Where names have their values. Null: the expression was parsed without such names.
struct Scope {
  const Trace* trace = nullptr;
  const Variables* variables = nullptr;
};

double computed_of(const Node& node, const std::vector<Value>& values) {
  std::vector<double> arguments;
  for (const std::size_t operand : node.operands)
    arguments.push_back(number_of(values[operand], node.column));
  return number_functions()[node.index].of(arguments);
}

Value called(const Node& node, const std::vector<Value>& values, const Trace& trace) {
  std::vector<Value> arguments;
  for (const std::size_t operand : node.operands) arguments.push_back(values[operand]);
  try {
    if (node.op == Op::kSeriesAt) return series_at(trace, node.index, arguments);
    return function_list()[node.index].call(trace, arguments);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;  // the capture's own
    refuse(node.column, error.what());
  }
}

Value value_of(const Node& node, const std::vector<Value>& values, const Scope& scope) {
  const auto operand = [&](std::size_t i) -> const Value& { return values[node.operands[i]]; };
  switch (node.op) {
    case Op::kNumber:
      return node.number;
    case Op::kText:
      return node.text;
    case Op::kTruth:
      return node.truth;
    case Op::kSeries:
      return SeriesRef{node.index};
    case Op::kPath: {
      if (node.operands.empty()) return PathRef{};
      const double rank = number_of(operand(0), node.column);
      if (!(rank >= 1 && rank <= 1e6) || rank != std::floor(rank))
        refuse(node.column, "beam: expected a rank, 1 or more; found " + value_text(rank));
      return PathRef{static_cast<std::int32_t>(rank)};
    }
    case Op::kCall:
    case Op::kSeriesAt:
      return called(node, values, *scope.trace);
    case Op::kCompute:
      return computed_of(node, values);
    case Op::kVariable:
      return (*scope.variables)(node.text);
    case Op::kNegate:
      return -number_of(operand(0), node.column);
    case Op::kNot:
      return !truth_of(operand(0), node.column);
    case Op::kAnd:
    case Op::kOr: {
      const bool a = truth_of(operand(0), node.column), b = truth_of(operand(1), node.column);
      return node.op == Op::kAnd ? a && b : a || b;
    }
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
      return computed(node.op, number_of(operand(0), node.column),
                      number_of(operand(1), node.column), node.column);
    case Op::kEqual:
    case Op::kUnequal:
    case Op::kLess:
    case Op::kAtMost:
    case Op::kMore:
    case Op::kAtLeast:
    case Op::kHolds:
      break;
  }
  return compares(node.op, operand(0), operand(1), node.column);
}

Value evaluated(const Expression& expression, const Scope& scope) {
  std::vector<Value> values;
  for (const Node& node : expression.nodes()) values.push_back(value_of(node, values, scope));
  return values.back();
}

}  // namespace

Value evaluate(const Expression& expression, const Trace& trace) {
  return evaluated(expression, {.trace = &trace});
}

bool evaluate_truth(const Expression& expression, const Variables& variables) {
  return truth_of(evaluated(expression, {.variables = &variables}), expression.root().column);
}

bool evaluate_truth(const Expression& expression, const Trace& trace, const Variables& variables) {
  return truth_of(evaluated(expression, {.trace = &trace, .variables = &variables}),
                  expression.root().column);
}

double evaluate_number(const Expression& expression, const Trace& trace) {
  return number_of(evaluate(expression, trace), expression.root().column);
}

std::int64_t evaluate_whole(const Expression& expression, const Trace& trace) {
  const double number = evaluate_number(expression, trace);
  if (number != std::floor(number) || std::abs(number) > 1e9)
    refuse(expression.root().column, "expected a whole number; found " + value_text(number));
  return static_cast<std::int64_t>(number);
}

bool evaluate_truth(const Expression& expression, const Trace& trace) {
  return truth_of(evaluate(expression, trace), expression.root().column);
}

}  // namespace triescope::lessons

#include "lessons/expression.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "lessons/expression_lexer.h"
#include "lessons/expression_names.h"
#include "lessons/number_functions.h"
#include "lessons/trace.h"

namespace triescope::lessons {
namespace {

using Op = Expression::Op;
using Node = Expression::Node;

class Parser {
 public:
  Parser(std::string_view text, const Names& names) : lexer_(text), names_(names) { next(); }

  std::vector<Node> parse() {
    disjunction();
    if (token_.kind != ExpressionToken::Kind::kEnd) refuse("the end or an operator");
    return std::move(nodes_);
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const { refuse_token(token_, expected); }
  void next() { token_ = lexer_.next(); }

  // Whether this operator, bracket or word comes next; none is spelled like a text or a number.
  bool is(std::string_view spelling) const {
    return (token_.kind == ExpressionToken::Kind::kMark ||
            token_.kind == ExpressionToken::Kind::kName) &&
           token_.text == spelling;
  }
  std::size_t add(Node node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  std::size_t add(Op op, std::size_t column, std::vector<std::size_t> operands) {
    return add(Node{.op = op, .operands = std::move(operands), .column = column});
  }

  // Counts how deep a text nests, because parsing is recursive.
  struct Level {
    explicit Level(Parser& parser) : parser(parser) {
      if (++parser.depth_ > Expression::kMostDepth)
        refuse_expression(
            parser.token_.column,
            "nested more than " + std::to_string(Expression::kMostDepth) + " deep; split it up");
    }
    ~Level() { --parser.depth_; }
    Parser& parser;
  };

  using Rule = std::size_t (Parser::*)();
  using Operators = std::initializer_list<std::pair<const char*, Op>>;

  const std::pair<const char*, Op>* operator_of(const Operators& operators) const {
    for (const auto& one : operators)
      if (is(one.first)) return &one;
    return nullptr;
  }

  // Parses operand { operator operand }, from left to right.
  std::size_t chain(Rule operand, Operators operators) {
    std::size_t left = (this->*operand)();
    while (const auto* const found = operator_of(operators)) {
      const std::size_t column = token_.column;
      next();
      const std::size_t right = (this->*operand)();
      left = add(found->second, column, {left, right});
    }
    return left;
  }

  std::size_t disjunction() {
    const Level level(*this);
    return chain(&Parser::conjunction, {{"or", Op::kOr}});
  }

  std::size_t conjunction() { return chain(&Parser::negation, {{"and", Op::kAnd}}); }

  std::size_t negation() {
    if (!is("not")) return comparison();
    const Level level(*this);
    const std::size_t column = token_.column;
    next();
    const std::size_t operand = negation();
    return add(Op::kNot, column, {operand});
  }

  std::size_t comparison() {
    const Operators comparisons = {{"=", Op::kEqual},    {"!=", Op::kUnequal}, {"<", Op::kLess},
                                   {"<=", Op::kAtMost},  {">", Op::kMore},     {">=", Op::kAtLeast},
                                   {"holds", Op::kHolds}};
    const std::size_t left = sum();
    const auto* const found = operator_of(comparisons);
    if (!found) return left;
    const std::size_t column = token_.column;
    next();
    const std::size_t right = sum();
    return add(found->second, column, {left, right});
  }

  std::size_t sum() { return chain(&Parser::product, {{"+", Op::kAdd}, {"-", Op::kSubtract}}); }

  std::size_t product() { return chain(&Parser::sign, {{"*", Op::kMultiply}, {"/", Op::kDivide}}); }

  std::size_t sign() {
    if (!is("-")) return operand();
    const Level level(*this);
    const std::size_t column = token_.column;
    next();
    const std::size_t inner = sign();
    return add(Op::kNegate, column, {inner});
  }

  std::size_t operand() {
    const ExpressionToken token = token_;
    if (token.kind == ExpressionToken::Kind::kNumber) {
      next();
      return add(Node{.op = Op::kNumber, .number = token.number, .column = token.column});
    }
    if (token.kind == ExpressionToken::Kind::kText) {
      next();
      return add(Node{.op = Op::kText, .text = token.text, .column = token.column});
    }
    if (is("(")) {
      next();
      const std::size_t inner = disjunction();
      if (!is(")")) refuse("')'");
      next();
      return inner;
    }
    if (token.kind != ExpressionToken::Kind::kName || is("and") || is("or"))
      refuse("a number, a text, a name or '('");
    if (names_.of_run && is("beam")) {
      const Level level(*this);
      next();
      const std::size_t rank = operand();
      return add(Op::kPath, token.column, {rank});
    }
    return named(token);
  }

  std::size_t named(const ExpressionToken& token) {
    next();
    if (token.text == "true" || token.text == "false")
      return add(Node{.op = Op::kTruth, .truth = token.text == "true", .column = token.column});
    if (names_.of_run && token.text == "best") return add(Op::kPath, token.column, {});
    const bool called = is("(");
    std::vector<std::size_t> operands = called ? arguments() : std::vector<std::size_t>();
    const auto numbers = number_functions();
    if (const auto i = place_of(numbers, token.text); i < numbers.size()) {
      check_count(token, numbers[i].usage, operands.size(), numbers[i].arguments,
                  numbers[i].arguments);
      return add(Node{
          .op = Op::kCompute, .index = i, .operands = std::move(operands), .column = token.column});
    }
    if (is_in(names_.variables, token.text)) {
      if (called && !names_.of_run)
        refuse_expression(token.column, "'" + token.text + "' stands alone here, without brackets");
      if (!called)
        return add(Node{.op = Op::kVariable, .text = token.text, .column = token.column});
    }
    if (is_in(names_.keyed, token.text)) return keyed(token, operands);
    if (!names_.of_run) refuse_name(token, names_);
    return of_run(token, called, std::move(operands));
  }

  static bool is_in(std::span<const std::string> names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::size_t keyed(const ExpressionToken& token, const std::vector<std::size_t>& operands) {
    check_count(token, token.text + "(\"NAME\")", operands.size(), 1, 1);
    if (nodes_[operands[0]].op != Op::kText)
      refuse_expression(token.column, "expected " + token.text + "(\"NAME\"), a name in quotes");
    return add(Node{.op = Op::kVariable,
                    .text = token.text + ":" + nodes_[operands[0]].text,
                    .column = token.column});
  }

  // The arguments in brackets, which come next.
  std::vector<std::size_t> arguments() {
    std::vector<std::size_t> operands;
    do {
      next();
      operands.push_back(disjunction());
    } while (is(","));
    if (!is(")")) refuse("',' or ')'");
    next();
    return operands;
  }

  // The place of a name in a list; the list's size if it is not there.
  template <class List>
  static std::size_t place_of(const List& list, const std::string& name) {
    std::size_t i = 0;
    while (i < list.size() && list[i].name != name) ++i;
    return i;
  }

  void check_count(const ExpressionToken& token, std::string_view usage, std::size_t found,
                   int least, int most) const {
    if (found < static_cast<std::size_t>(least) || found > static_cast<std::size_t>(most))
      refuse_expression(token.column,
                        "expected " + std::string(usage) + "; found " + counted(found, "argument"));
  }

  std::size_t of_run(const ExpressionToken& token, bool called, std::vector<std::size_t> operands) {
    const auto series = series_list();
    if (const auto i = place_of(series, token.text); i < series.size()) {
      check_count(token, token.text + "(STEP)", operands.size(), 0, 1);
      return add(Node{.op = called ? Op::kSeriesAt : Op::kSeries,
                      .index = i,
                      .operands = std::move(operands),
                      .column = token.column});
    }
    const auto functions = function_list();
    const auto i = place_of(functions, token.text);
    if (i == functions.size()) refuse_name(token, names_);
    check_count(token, functions[i].usage, operands.size(), functions[i].least, functions[i].most);
    return add(
        Node{.op = Op::kCall, .index = i, .operands = std::move(operands), .column = token.column});
  }

  ExpressionLexer lexer_;
  const Names& names_;
  ExpressionToken token_;
  int depth_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace

Expression Expression::parse(std::string_view text, const Names& names) {
  if (text.size() > kMostBytes)
    throw Error(ErrorCode::kCorruption,
                "column " + std::to_string(kMostBytes + 1) + ": an expression has at most " +
                    std::to_string(kMostBytes) + " bytes; found " + std::to_string(text.size()));
  Expression result;
  result.text_ = text;
  result.nodes_ = Parser(text, names).parse();
  return result;
}

}  // namespace triescope::lessons

#include "core/text/jinja/parse_expression.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace triescope::jinja {
namespace {

constexpr int kMaxTreeDepth = 600;  // for an expression's tree

}  // namespace

NodePtr ExpressionParser::make(Op op, int line, std::string text) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->line = line;
  node->text = std::move(text);
  return node;
}

// A name that may be set.
std::string ExpressionParser::target() {
  const Token name = take();
  static constexpr const char* kReserved[] = {"true", "false", "none", "True", "False", "None"};
  if (name.kind != Token::Kind::kName ||
      std::any_of(std::begin(kReserved), std::end(kReserved),
                  [&](const char* word) { return name.text == word; }))
    refuse(name.line, "'" + name.text + "' where a name is expected");
  return name.text;
}

std::vector<std::string> ExpressionParser::targets() {
  std::vector<std::string> names;
  const bool parenthesis = accept("(");
  do {
    names.push_back(target());
  } while (accept(","));
  if (parenthesis) expect(")");
  return names;
}

// Expressions, beginning with the loosest binding.

NodePtr ExpressionParser::tuple_expression() {
  NodePtr first = expression();
  if (peek().text != "," || peek().kind != Token::Kind::kOperator) return first;
  NodePtr tuple = make(Op::kTuple, first->line);
  tuple->children.push_back(first);
  while (accept(",")) {
    if (peek().kind == Token::Kind::kEnd) break;
    tuple->children.push_back(expression());
  }
  return tuple;
}

NodePtr ExpressionParser::expression() {
  if (++depth_ > kMaxParseDepth)
    refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxParseDepth));
  NodePtr value = or_expression();
  while (accept_name("if")) {
    NodePtr node = make(Op::kTernary, value->line);
    node->condition = or_expression();
    node->body = value;
    if (accept_name("else")) node->other = expression();
    value = grown(node);
  }
  --depth_;
  return value;
}

NodePtr ExpressionParser::or_expression() {
  NodePtr left = and_expression();
  while (accept_name("or")) left = pair(Op::kOr, "or", left, and_expression());
  return left;
}

NodePtr ExpressionParser::and_expression() {
  NodePtr left = not_expression();
  while (accept_name("and")) left = pair(Op::kAnd, "and", left, not_expression());
  return left;
}

NodePtr ExpressionParser::not_expression() {
  if (accept_name("not")) {
    if (++depth_ > kMaxParseDepth)
      refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxParseDepth));
    NodePtr node = make(Op::kNot, peek().line);
    node->children.push_back(not_expression());
    --depth_;
    return grown(node);
  }
  return comparison();
}

NodePtr ExpressionParser::comparison() {
  NodePtr first = sum();
  NodePtr result, previous = first;
  while (true) {
    std::string op;
    const Token& token = peek();
    if (token.kind == Token::Kind::kOperator &&
        (token.text == "==" || token.text == "!=" || token.text == "<" || token.text == ">" ||
         token.text == "<=" || token.text == ">=")) {
      op = take().text;
    } else if (token.kind == Token::Kind::kName && token.text == "in") {
      op = take().text;
    } else if (token.kind == Token::Kind::kName && token.text == "not" &&
               tokens_[at_ + 1].text == "in") {
      take();
      take();
      op = "not in";
    } else {
      break;
    }
    NodePtr right = sum();
    NodePtr one = pair(Op::kCompare, op, previous, right);
    result = result ? pair(Op::kAnd, "and", result, one) : one;
    previous = right;
  }
  return result ? result : first;
}

NodePtr ExpressionParser::sum() {
  NodePtr left = concatenation();
  while (peek().kind == Token::Kind::kOperator && (peek().text == "+" || peek().text == "-")) {
    const std::string op = take().text;
    left = pair(Op::kBinary, op, left, concatenation());
  }
  return left;
}

NodePtr ExpressionParser::concatenation() {
  NodePtr left = product();
  while (peek().kind == Token::Kind::kOperator && peek().text == "~") {
    take();
    left = pair(Op::kBinary, "~", left, product());
  }
  return left;
}

NodePtr ExpressionParser::product() {
  NodePtr left = power();
  while (peek().kind == Token::Kind::kOperator &&
         (peek().text == "*" || peek().text == "/" || peek().text == "//" || peek().text == "%")) {
    const std::string op = take().text;
    left = pair(Op::kBinary, op, left, power());
  }
  return left;
}

NodePtr ExpressionParser::power() {
  NodePtr left = unary(true);
  while (accept("**")) left = pair(Op::kBinary, "**", left, unary(true));
  return left;
}
// As in Jinja, filters and tests apply to the minus too: -1 | abs is 1.
NodePtr ExpressionParser::unary(bool with_filters) {
  if (++depth_ > kMaxParseDepth)
    refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxParseDepth));
  NodePtr result;
  if (peek().kind == Token::Kind::kOperator && (peek().text == "-" || peek().text == "+")) {
    const Token sign = take();
    result = make(sign.text == "-" ? Op::kNegate : Op::kPlus, sign.line);
    result->children.push_back(unary(false));
    result = grown(result);
  } else {
    result = primary();
  }
  result = postfix(result);
  if (with_filters) result = filters(result);
  --depth_;
  return result;
}

// Parses members, subscripts and calls.
NodePtr ExpressionParser::postfix(NodePtr value) {
  while (true) {
    const Token token = peek();
    if (token.kind != Token::Kind::kOperator) return value;
    NodePtr node;
    if (token.text == ".") {
      take();
      const Token name = take();
      if (name.kind == Token::Kind::kInteger) {
        node = make(Op::kIndex, token.line);
        NodePtr index = make(Op::kLiteral, token.line);
        index->value = Value(static_cast<std::int64_t>(std::atoll(name.text.c_str())));
        node->children = {value, index};
      } else {
        if (name.kind != Token::Kind::kName) refuse(token.line, "an attribute that is not a name");
        node = make(Op::kAttribute, token.line, name.text);
        node->children.push_back(value);
      }
    } else if (token.text == "[") {
      take();
      node = subscript(value, token.line);
    } else if (token.text == "(") {
      take();
      node = make(Op::kCall, token.line);
      node->children.push_back(value);
      arguments(node);
    } else {
      return value;
    }
    value = grown(node);
  }
}

// Parses the filters and tests behind a value.
NodePtr ExpressionParser::filters(NodePtr value) {
  while (true) {
    const Token token = peek();
    NodePtr node;
    if (accept_name("is")) {
      const bool negated = accept_name("not");
      if (peek().kind != Token::Kind::kName) refuse(token.line, "'is " + peek().text + "'");
      node = make(Op::kTest, token.line, take().text);
      node->children.push_back(value);
      test_argument(node);
      if (peek().kind == Token::Kind::kName && peek().text == "is")
        refuse(token.line, "a test of a test");
      if (negated) {
        NodePtr inner = grown(node);
        node = make(Op::kNot, token.line);
        node->children.push_back(inner);
      }
    } else if (accept("|")) {
      if (peek().kind != Token::Kind::kName) refuse(token.line, "the filter '" + peek().text + "'");
      node = make(Op::kFilter, token.line, take().text);
      node->children.push_back(value);
      if (accept("(")) arguments(node);
    } else {
      return value;
    }
    value = grown(node);
  }
}

void ExpressionParser::test_argument(const NodePtr& test) {
  if (accept("(")) return arguments(test);
  const Token& next = peek();
  static constexpr const char* kWords[] = {"else", "or", "and", "is", "if", "in", "not"};
  const bool value = next.kind == Token::Kind::kOperator ? next.text == "[" || next.text == "{"
                                                         : next.kind != Token::Kind::kEnd;
  if (!value || (next.kind == Token::Kind::kName &&
                 std::any_of(std::begin(kWords), std::end(kWords),
                             [&](const char* word) { return next.text == word; })))
    return;
  test->children.push_back(postfix(primary()));
}

NodePtr ExpressionParser::subscript(const NodePtr& value, int line) {
  NodePtr parts[3];
  bool slice = false;
  int index = 0;
  while (!accept("]")) {
    if (accept(":")) {
      slice = true;
      if (++index > 2) refuse(line, "a slice of more than three parts");
      continue;
    }
    if (parts[index]) refuse(line, "a subscript near '" + peek().text + "'");
    parts[index] = expression();
  }
  NodePtr node = make(slice ? Op::kSlice : Op::kIndex, line);
  node->children.push_back(value);
  if (!slice && !parts[0]) refuse(line, "an empty subscript");
  for (int i = 0; i < (slice ? 3 : 1); ++i) node->children.push_back(parts[i]);
  return node;
}

void ExpressionParser::arguments(const NodePtr& node) {
  while (!accept(")")) {
    if (peek().kind == Token::Kind::kName && tokens_[at_ + 1].kind == Token::Kind::kOperator &&
        tokens_[at_ + 1].text == "=") {
      const std::string name = take().text;
      take();
      node->named.emplace_back(name, expression());
    } else {
      if (!node->named.empty()) refuse(peek().line, "an argument without a name behind named ones");
      node->children.push_back(expression());
    }
    if (!accept(",") && peek().text != ")")
      refuse(peek().line, "an argument list near '" + peek().text + "'");
  }
}

NodePtr ExpressionParser::primary() {
  const Token token = take();
  NodePtr node = make(Op::kLiteral, token.line);
  switch (token.kind) {
    case Token::Kind::kString:
      node->value = token.text;
      while (peek().kind == Token::Kind::kString)
        node->value = *node->value.get<std::string>() + take().text;
      return node;
    case Token::Kind::kInteger:
      node->value = static_cast<std::int64_t>(std::strtoll(token.text.c_str(), nullptr, 10));
      return node;
    case Token::Kind::kFloat:
      node->value = std::strtod(token.text.c_str(), nullptr);
      return node;
    case Token::Kind::kName:
      if (token.text == "true" || token.text == "True")
        node->value = true;
      else if (token.text == "false" || token.text == "False")
        node->value = false;
      else if (token.text == "none" || token.text == "None")
        node->value = None{};
      else {
        node->op = Op::kName;
        node->text = token.text;
      }
      return node;
    case Token::Kind::kOperator:
      if (token.text == "(") {
        if (accept(")")) {
          node->op = Op::kTuple;
          return node;
        }
        NodePtr inner = expression();
        if (peek().text == "," && peek().kind == Token::Kind::kOperator) {
          node->op = Op::kTuple;
          node->children.push_back(inner);
          while (accept(",")) {
            if (peek().text == ")") break;
            node->children.push_back(expression());
          }
          inner = node;
        }
        expect(")");
        return inner;
      }
      if (token.text == "[") {
        node->op = Op::kList;
        while (!accept("]")) {
          node->children.push_back(expression());
          if (!accept(",") && peek().text != "]")
            refuse(token.line, "a list near '" + peek().text + "'");
        }
        return node;
      }
      if (token.text == "{") {
        node->op = Op::kDict;
        while (!accept("}")) {
          node->children.push_back(expression());
          expect(":");
          node->children.push_back(expression());
          if (!accept(",") && peek().text != "}")
            refuse(token.line, "a dict near '" + peek().text + "'");
        }
        return node;
      }
      break;
    case Token::Kind::kEnd:
      break;
  }
  refuse(token.line,
         token.text.empty() ? "an expression that ends too early" : "'" + token.text + "' here");
}

NodePtr ExpressionParser::pair(Op op, const std::string& text, NodePtr left, NodePtr right) {
  NodePtr node = make(op, left->line, text);
  node->children = {std::move(left), std::move(right)};
  return grown(node);
}

// Long chains make deep trees, which are walked and freed by recursion.
NodePtr ExpressionParser::grown(NodePtr node) {
  const auto look = [&](const NodePtr& child) {
    if (child) node->depth = std::max(node->depth, child->depth + 1);
  };
  for (const NodePtr& child : node->children) look(child);
  for (const auto& [name, child] : node->named) look(child);
  look(node->body);
  look(node->other);
  look(node->condition);
  if (node->depth > kMaxTreeDepth)
    refuse(node->line, "an expression of more than " + std::to_string(kMaxTreeDepth) + " parts");
  return node;
}

// The current chunk's tokens.

void ExpressionParser::load(const Chunk& chunk) {
  tokens_ = chunk.tokens;
  at_ = 0;
}

const Token& ExpressionParser::peek() const { return tokens_[at_]; }
Token ExpressionParser::take() {
  Token token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionParser::accept(const char* op) {
  if (peek().kind != Token::Kind::kOperator || peek().text != op) return false;
  take();
  return true;
}

bool ExpressionParser::accept_name(const char* name) {
  if (peek().kind != Token::Kind::kName || peek().text != name) return false;
  take();
  return true;
}

void ExpressionParser::expect(const char* op) {
  if (!accept(op))
    refuse(peek().line, std::string("'") + peek().text + "' where '" + op + "' is expected");
}

void ExpressionParser::expect_name(const std::string& name) {
  if (!accept_name(name.c_str()))
    refuse(peek().line, "'" + peek().text + "' where '" + name + "' is expected");
}

void ExpressionParser::expect_end() {
  if (peek().kind != Token::Kind::kEnd)
    refuse(peek().line, "'" + peek().text + "' where the tag should end");
}

}  // namespace triescope::jinja

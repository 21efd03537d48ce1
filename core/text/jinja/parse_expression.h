// The expressions of a tag: a cursor over its tokens, and one function for each level of binding.
// The parser of statements (parse.cpp) builds on it. Internal to core/text/jinja. Source:
// jinja2/parser.py 3.1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/jinja/lex.h"
#include "core/text/jinja/nodes.h"

namespace triescope::jinja {

using NodePtr = std::shared_ptr<Node>;

inline constexpr int kMaxParseDepth = 200;  // for blocks and brackets together

// All errors come from refuse(): kNotSupported, with the line.
class ExpressionParser {
 protected:
  NodePtr make(Op op, int line, std::string text = {});

  // A name that may be set; several, with or without parentheses.
  std::string target();
  std::vector<std::string> targets();

  // From the loosest binding to the tightest. Only the first reads "a, b" as a tuple.
  NodePtr tuple_expression();
  NodePtr expression();
  NodePtr or_expression();
  NodePtr filters(NodePtr value);       // the filters and tests that follow a value
  void arguments(const NodePtr& node);  // up to the closing parenthesis
  NodePtr grown(NodePtr node);  // the node, with its depth set and checked against the limit

  // Sets the tokens of one tag. The last is kEnd, and the cursor never passes it.
  void load(const Chunk& chunk);
  const Token& peek() const;
  Token take();
  bool accept(const char* op);
  bool accept_name(const char* name);
  void expect(const char* op);
  void expect_name(const std::string& name);
  void expect_end();

  int depth_ = 0;

 private:
  NodePtr and_expression();
  NodePtr not_expression();
  NodePtr comparison();
  NodePtr sum();
  NodePtr concatenation();
  NodePtr product();
  NodePtr power();
  NodePtr unary(bool with_filters);
  NodePtr postfix(NodePtr value);
  NodePtr subscript(const NodePtr& value, int line);
  NodePtr primary();
  void test_argument(const NodePtr& test);
  NodePtr pair(Op op, const std::string& text, NodePtr left, NodePtr right);

  std::vector<Token> tokens_{1};
  std::size_t at_ = 0;
};

}  // namespace triescope::jinja

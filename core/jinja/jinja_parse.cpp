#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/jinja/jinja_lex.h"
#include "core/jinja/jinja_nodes.h"

namespace triescope::tokenizer::jinja {
namespace {

using NodePtr = std::shared_ptr<Node>;
constexpr int kMaxDepth = 200;      // of blocks and brackets
constexpr int kMaxTreeDepth = 600;  // of an expression's tree
constexpr std::size_t kMaxTemplateBytes = 1 << 20;

class Parser {
 public:
  explicit Parser(const std::string& source) : chunks_(lex(source)) {}

  NodePtr parse() {
    NodePtr root = block({});
    if (next_ < chunks_.size())
      refuse(chunks_[next_].line,
             "'" + chunks_[next_].tokens.front().text + "' without its beginning");
    return root;
  }

 private:
  // --- statements ---
  NodePtr make(Op op, int line, std::string text = {}) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->line = line;
    node->text = std::move(text);
    return node;
  }

  // Up to (not past) a statement whose first word is one of `ends`.
  NodePtr block(const std::vector<std::string>& ends) {
    if (++depth_ > kMaxDepth)
      refuse(line(), "blocks nested deeper than " + std::to_string(kMaxDepth));
    NodePtr result = make(Op::kBlock, line());
    while (next_ < chunks_.size()) {
      const Chunk& chunk = chunks_[next_];
      if (chunk.kind == Chunk::Kind::kText) {
        result->children.push_back(make(Op::kText, chunk.line, chunk.text));
        ++next_;
        continue;
      }
      load(chunk);
      if (chunk.kind == Chunk::Kind::kPrint) {
        ++next_;
        NodePtr print = make(Op::kPrint, chunk.line);
        print->children.push_back(tuple_expression());
        expect_end();
        result->children.push_back(print);
        continue;
      }
      for (const std::string& end : ends)
        if (peek().text == end) {
          --depth_;
          return result;
        }
      ++next_;
      if (NodePtr node = statement()) result->children.push_back(node);
    }
    if (!ends.empty()) refuse(line(), "the template ends where '" + ends.back() + "' is expected");
    --depth_;
    return result;
  }

  NodePtr statement() {
    const Token word = take();
    if (word.text == "for") return for_statement(word.line);
    if (word.text == "if") return if_statement(word.line);
    if (word.text == "set") return set_statement(word.line);
    if (word.text == "macro") return macro_statement(word.line);
    if (word.text == "break" || word.text == "continue") {
      if (loops_ == 0) refuse(word.line, "'" + word.text + "' outside a loop");
      expect_end();
      return make(word.text == "break" ? Op::kBreak : Op::kContinue, word.line);
    }
    if (word.text == "generation") {  // a mark for training masks
      expect_end();
      return scope(word.line, "endgeneration");
    }
    if (word.text == "with") return with_statement(word.line);
    if (word.text == "filter") return filter_statement(word.line);
    if (word.text.rfind("end", 0) == 0 || word.text == "else" || word.text == "elif")
      refuse(word.line, "'" + word.text + "' without its beginning");
    refuse(word.line, "the statement '" + word.text + "'");
  }

  void end_of(const std::string& name) {
    load(chunks_[next_++]);  // block() stopped there
    take_name(name);
    expect_end();
  }

  NodePtr scope(int line, const char* end) {
    NodePtr node = make(Op::kScope, line);
    node->body = block({end});
    end_of(end);
    return node;
  }

  NodePtr with_statement(int line) {
    std::vector<NodePtr> assignments;
    while (peek().kind != Token::Kind::kEnd) {
      NodePtr set = make(Op::kSet, line);
      set->names.push_back(target());
      expect("=");
      set->children.push_back(expression());
      assignments.push_back(set);
      if (!accept(",")) break;
    }
    expect_end();
    NodePtr node = scope(line, "endwith");
    node->body->children.insert(node->body->children.begin(), assignments.begin(),
                                assignments.end());
    return node;
  }

  NodePtr filter_statement(int line) {
    NodePtr node = make(Op::kFilterBlock, line);
    NodePtr first = make(Op::kFilter, line, take().text);
    first->children.push_back(make(Op::kCaptured, line));
    if (accept("(")) arguments(first);
    node->children.push_back(filters(grown(first)));
    expect_end();
    node->body = block({"endfilter"});
    end_of("endfilter");
    return node;
  }

  NodePtr for_statement(int line) {
    NodePtr node = make(Op::kFor, line);
    node->names = targets();
    take_name("in");
    node->children.push_back(or_expression());
    if (accept_name("if")) node->condition = expression();
    if (peek().text == "recursive") refuse(line, "recursive loops");
    expect_end();
    ++loops_;
    node->body = block({"else", "endfor"});
    --loops_;
    load(chunks_[next_]);
    if (peek().text == "else") {
      end_of("else");
      node->other = block({"endfor"});
    }
    end_of("endfor");
    return node;
  }

  NodePtr if_statement(int line, int elifs = 0) {
    if (elifs > kMaxDepth)
      refuse(line, "an if with more than " + std::to_string(kMaxDepth) + " branches");
    NodePtr node = make(Op::kIf, line);
    node->condition = or_expression();
    expect_end();
    node->body = block({"elif", "else", "endif"});
    load(chunks_[next_]);
    if (peek().text == "elif") {
      ++next_;
      take();
      node->other = if_statement(peek().line, elifs + 1);  // takes the endif
      return node;
    }
    if (peek().text == "else") {
      end_of("else");
      node->other = block({"endif"});
    }
    end_of("endif");
    return node;
  }

  NodePtr set_statement(int line) {
    NodePtr node = make(Op::kSet, line);
    node->names.push_back(target());
    if (accept(".")) {
      node->text = take().text;  // namespace attribute
    } else {
      while (accept(",")) node->names.push_back(target());
    }
    if (accept("=")) {
      node->children.push_back(tuple_expression());
      expect_end();
      return node;
    }
    node->op = Op::kSetBlock;
    if (peek().text == "|") node->children.push_back(filters(make(Op::kCaptured, line)));
    expect_end();
    node->body = block({"endset"});
    end_of("endset");
    return node;
  }

  NodePtr macro_statement(int line) {
    NodePtr node = make(Op::kMacro, line, target());
    const int loops = std::exchange(loops_, 0);
    expect("(");
    while (!accept(")")) {
      node->names.push_back(target());
      node->named.emplace_back(node->names.back(), accept("=") ? expression() : nullptr);
      if (!accept(",") && peek().text != ")") refuse(line, "a macro's parameter list");
    }
    expect_end();
    node->body = block({"endmacro"});
    end_of("endmacro");
    loops_ = loops;
    return node;
  }

  // A name that may be set.
  std::string target() {
    const Token name = take();
    static constexpr const char* kReserved[] = {"true", "false", "none", "True", "False", "None"};
    if (name.kind != Token::Kind::kName ||
        std::any_of(std::begin(kReserved), std::end(kReserved),
                    [&](const char* word) { return name.text == word; }))
      refuse(name.line, "'" + name.text + "' where a name is expected");
    return name.text;
  }

  std::vector<std::string> targets() {
    std::vector<std::string> names;
    const bool parenthesis = accept("(");
    do {
      names.push_back(target());
    } while (accept(","));
    if (parenthesis) expect(")");
    return names;
  }

  // --- expressions, loosest binding first ---
  NodePtr tuple_expression() {
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

  NodePtr expression() {
    if (++depth_ > kMaxDepth)
      refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxDepth));
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

  NodePtr or_expression() {
    NodePtr left = and_expression();
    while (accept_name("or")) left = pair(Op::kOr, "or", left, and_expression());
    return left;
  }
  NodePtr and_expression() {
    NodePtr left = not_expression();
    while (accept_name("and")) left = pair(Op::kAnd, "and", left, not_expression());
    return left;
  }
  NodePtr not_expression() {
    if (accept_name("not")) {
      if (++depth_ > kMaxDepth)
        refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxDepth));
      NodePtr node = make(Op::kNot, peek().line);
      node->children.push_back(not_expression());
      --depth_;
      return grown(node);
    }
    return comparison();
  }
  NodePtr comparison() {
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
  NodePtr sum() {
    NodePtr left = concatenation();
    while (peek().kind == Token::Kind::kOperator && (peek().text == "+" || peek().text == "-")) {
      const std::string op = take().text;
      left = pair(Op::kBinary, op, left, concatenation());
    }
    return left;
  }
  NodePtr concatenation() {
    NodePtr left = product();
    while (peek().kind == Token::Kind::kOperator && peek().text == "~") {
      take();
      left = pair(Op::kBinary, "~", left, product());
    }
    return left;
  }
  NodePtr product() {
    NodePtr left = power();
    while (peek().kind == Token::Kind::kOperator && (peek().text == "*" || peek().text == "/" ||
                                                     peek().text == "//" || peek().text == "%")) {
      const std::string op = take().text;
      left = pair(Op::kBinary, op, left, power());
    }
    return left;
  }
  NodePtr power() {
    NodePtr left = unary(true);
    while (accept("**")) left = pair(Op::kBinary, "**", left, unary(true));
    return left;
  }
  // As Jinja has it, filters and tests apply to the minus too: -1 | abs is 1.
  NodePtr unary(bool with_filters) {
    if (++depth_ > kMaxDepth)
      refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxDepth));
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

  // Members, subscripts, calls.
  NodePtr postfix(NodePtr value) {
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
          if (name.kind != Token::Kind::kName) refuse(token.line, "an attribute that is no name");
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

  // Filters and tests behind a value.
  NodePtr filters(NodePtr value) {
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
        if (peek().kind != Token::Kind::kName)
          refuse(token.line, "the filter '" + peek().text + "'");
        node = make(Op::kFilter, token.line, take().text);
        node->children.push_back(value);
        if (accept("(")) arguments(node);
      } else {
        return value;
      }
      value = grown(node);
    }
  }

  void test_argument(const NodePtr& test) {
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

  NodePtr subscript(const NodePtr& value, int line) {
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

  void arguments(const NodePtr& node) {
    while (!accept(")")) {
      if (peek().kind == Token::Kind::kName && tokens_[at_ + 1].kind == Token::Kind::kOperator &&
          tokens_[at_ + 1].text == "=") {
        const std::string name = take().text;
        take();
        node->named.emplace_back(name, expression());
      } else {
        if (!node->named.empty())
          refuse(peek().line, "an argument without a name behind named ones");
        node->children.push_back(expression());
      }
      if (!accept(",") && peek().text != ")")
        refuse(peek().line, "an argument list near '" + peek().text + "'");
    }
  }

  NodePtr primary() {
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

  NodePtr pair(Op op, const std::string& text, NodePtr left, NodePtr right) {
    NodePtr node = make(op, left->line, text);
    node->children = {std::move(left), std::move(right)};
    return grown(node);
  }

  // Long chains make deep trees: they are walked, and freed, by recursion.
  NodePtr grown(NodePtr node) {
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

  // --- tokens of the chunk at hand ---
  void load(const Chunk& chunk) {
    tokens_ = chunk.tokens;
    at_ = 0;
  }
  const Token& peek() const { return tokens_[at_]; }
  Token take() {
    Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(const char* op) {
    if (peek().kind != Token::Kind::kOperator || peek().text != op) return false;
    take();
    return true;
  }
  bool accept_name(const char* name) {
    if (peek().kind != Token::Kind::kName || peek().text != name) return false;
    take();
    return true;
  }
  void expect(const char* op) {
    if (!accept(op))
      refuse(peek().line, std::string("'") + peek().text + "' where '" + op + "' is expected");
  }
  void take_name(const std::string& name) {
    if (!accept_name(name.c_str()))
      refuse(peek().line, "'" + peek().text + "' where '" + name + "' is expected");
  }
  void expect_end() {
    if (peek().kind != Token::Kind::kEnd)
      refuse(peek().line, "'" + peek().text + "' where the tag should end");
  }
  int line() const {
    return next_ < chunks_.size() ? chunks_[next_].line : chunks_.empty() ? 1 : chunks_.back().line;
  }

  std::vector<Chunk> chunks_;
  std::size_t next_ = 0;
  std::vector<Token> tokens_{1};
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // loops around what is parsed
};

}  // namespace

void refuse(int line, const std::string& what) {
  throw Error(ErrorCode::kNotSupported,
              "chat template, line " + std::to_string(line) + ": " + what + " is not supported");
}

Template parse(const std::string& text) {
  if (text.size() > kMaxTemplateBytes) refuse(1, "a template of more than 1 MiB");
  return {Parser(text).parse()};
}

}  // namespace triescope::tokenizer::jinja

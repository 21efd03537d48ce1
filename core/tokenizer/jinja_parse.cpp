#include <cctype>
#include <cstdlib>

#include "core/base/error.h"
#include "core/tokenizer/jinja_nodes.h"
#include "core/tokenizer/unicode.h"

namespace triescope::tokenizer::jinja {
namespace {

using NodePtr = std::shared_ptr<Node>;
constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxTemplateBytes = 1 << 20;

struct Token {
  enum class Kind : std::uint8_t {
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd
  } kind = Kind::kEnd;
  std::string text;
  int line = 0;
};

struct Chunk {
  enum class Kind : std::uint8_t { kText, kPrint, kStatement } kind = Kind::kText;
  std::string text;
  int line = 1;
};

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Cuts the template at its tags, with the white space rules of trim_blocks and lstrip_blocks.
std::vector<Chunk> cut(const std::string& source) {
  std::vector<Chunk> chunks;
  int line = 1;
  std::size_t at = 0;
  bool strip_next = false;  // the tag before ended in -%}
  bool trim_newline = false;
  while (at <= source.size()) {
    std::size_t tag = at;
    while (tag + 1 < source.size() &&
           !(source[tag] == '{' &&
             (source[tag + 1] == '{' || source[tag + 1] == '%' || source[tag + 1] == '#')))
      ++tag;
    if (tag + 1 >= source.size()) tag = source.size();
    std::string text = source.substr(at, tag - at);
    const int text_line = line;
    for (const char c : text) line += c == '\n';
    if (trim_newline && !text.empty() && text[0] == '\n') text.erase(0, 1);
    if (strip_next)
      text.erase(0, text.find_first_not_of(" \t\n\r\f\v") == std::string::npos
                        ? text.size()
                        : text.find_first_not_of(" \t\n\r\f\v"));
    if (tag == source.size()) {
      if (!text.empty()) chunks.push_back({Chunk::Kind::kText, text, text_line});
      break;
    }
    const char kind = source[tag + 1];
    std::size_t begin = tag + 2;
    bool minus = false, plus = false;
    if (begin < source.size() && (source[begin] == '-' || source[begin] == '+')) {
      minus = source[begin] == '-';
      plus = !minus;
      ++begin;
    }
    if (minus) {
      while (!text.empty() && blank(text.back())) text.pop_back();
    } else if (kind != '{' && !plus) {
      // lstrip_blocks: spaces between the line's beginning and the block go.
      std::size_t end = text.size();
      while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
      std::size_t raw = tag;
      while (raw > 0 && (source[raw - 1] == ' ' || source[raw - 1] == '\t')) --raw;
      const bool line_start = raw == 0 || source[raw - 1] == '\n';
      if (line_start) text.resize(end);
    }
    if (!text.empty()) chunks.push_back({Chunk::Kind::kText, text, text_line});
    // The closing tag, not within a string.
    const std::string close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    std::size_t end = begin;
    char quote = 0;
    for (; end < source.size(); ++end) {
      const char c = source[end];
      if (kind != '#') {
        if (quote) {
          if (c == '\\')
            ++end;
          else if (c == quote)
            quote = 0;
          continue;
        }
        if (c == '"' || c == '\'') {
          quote = c;
          continue;
        }
        // A dict's }} inside an expression: count braces.
      }
      if (source.compare(end, 2, close) == 0) {
        if (kind == '{') {
          int open = 0;
          for (std::size_t i = begin; i < end; ++i)
            open += source[i] == '{' ? 1 : source[i] == '}' ? -1 : 0;
          if (open > 0) continue;
        }
        break;
      }
    }
    if (end >= source.size()) refuse(line, std::string("a tag {") + kind + " is not closed");
    std::string inner = source.substr(begin, end - begin);
    strip_next = !inner.empty() && inner.back() == '-';
    const bool keep_newline = !inner.empty() && inner.back() == '+';
    if (strip_next || keep_newline) inner.pop_back();
    if (kind == '{') chunks.push_back({Chunk::Kind::kPrint, inner, line});
    if (kind == '%') chunks.push_back({Chunk::Kind::kStatement, inner, line});
    for (std::size_t i = tag; i < end; ++i) line += source[i] == '\n';
    at = end + 2;
    trim_newline = kind != '{' && !keep_newline;
  }
  return chunks;
}

std::vector<Token> tokenize(const Chunk& chunk) {
  std::vector<Token> tokens;
  int line = chunk.line;
  const std::string& s = chunk.text;
  for (std::size_t i = 0; i < s.size();) {
    const char c = s[i];
    if (c == '\n') ++line;
    if (blank(c)) {
      ++i;
      continue;
    }
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      std::size_t end = i;
      while (end < s.size() && (std::isalnum(static_cast<unsigned char>(s[end])) || s[end] == '_'))
        ++end;
      tokens.push_back({Token::Kind::kName, s.substr(i, end - i), line});
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      std::size_t end = i;
      bool is_float = false;
      while (end < s.size() && (std::isdigit(static_cast<unsigned char>(s[end])) || s[end] == '_' ||
                                (s[end] == '.' && end + 1 < s.size() &&
                                 std::isdigit(static_cast<unsigned char>(s[end + 1]))))) {
        is_float |= s[end] == '.';
        ++end;
      }
      std::string digits;
      for (std::size_t k = i; k < end; ++k)
        if (s[k] != '_') digits += s[k];
      tokens.push_back({is_float ? Token::Kind::kFloat : Token::Kind::kInteger, digits, line});
      i = end;
    } else if (c == '"' || c == '\'') {
      std::string text;
      std::size_t k = i + 1;
      for (; k < s.size() && s[k] != c; ++k) {
        if (s[k] != '\\' || k + 1 >= s.size()) {
          text += s[k];
          continue;
        }
        const char e = s[++k];
        switch (e) {
          case 'n':
            text += '\n';
            break;
          case 't':
            text += '\t';
            break;
          case 'r':
            text += '\r';
            break;
          case '0':
            text += '\0';
            break;
          case '\n':
            break;
          case 'u':
          case 'x': {
            const std::size_t count = e == 'u' ? 4 : 2;
            append_utf8(text, static_cast<char32_t>(
                                  std::strtoul(s.substr(k + 1, count).c_str(), nullptr, 16)));
            k += count;
            break;
          }
          case '\\':
          case '\'':
          case '"':
            text += e;
            break;
          default:
            text += '\\';
            text += e;
        }
      }
      if (k >= s.size()) refuse(line, "a string is not closed");
      tokens.push_back({Token::Kind::kString, text, line});
      i = k + 1;
    } else {
      static constexpr const char* kTwo[] = {"==", "!=", "<=", ">=", "//", "**"};
      std::string op(1, c);
      for (const char* two : kTwo)
        if (s.compare(i, 2, two) == 0) op = two;
      if (op.size() == 1 &&
          std::string_view("+-*/%~<>=()[]{},.:|").find(c) == std::string_view::npos)
        refuse(line, "the character '" + op + "'");
      tokens.push_back({Token::Kind::kOperator, op, line});
      i += op.size();
    }
  }
  tokens.push_back({Token::Kind::kEnd, "", line});
  return tokens;
}

class Parser {
 public:
  explicit Parser(const std::string& source) : chunks_(cut(source)) {}

  NodePtr parse() {
    NodePtr root = block({});
    if (next_ < chunks_.size())
      refuse(chunks_[next_].line,
             "'" + chunks_[next_].text.substr(0, 30) + "' without its beginning");
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
        print->children.push_back(expression());
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
      expect_end();
      return make(word.text == "break" ? Op::kBreak : Op::kContinue, word.line);
    }
    if (word.text == "generation" || word.text == "endgeneration")
      return nullptr;  // marks for training masks
    if (word.text.rfind("end", 0) == 0 || word.text == "else" || word.text == "elif")
      refuse(word.line, "'" + word.text + "' without its beginning");
    refuse(word.line, "the statement '" + word.text + "'");
  }

  void end_of(const std::string& name) {
    load(chunks_[next_++]);
    take_name(name);
    expect_end();
  }

  NodePtr for_statement(int line) {
    NodePtr node = make(Op::kFor, line);
    node->names = targets();
    take_name("in");
    node->children.push_back(or_expression());
    if (accept_name("if")) node->condition = expression();
    if (peek().text == "recursive") refuse(line, "recursive loops");
    expect_end();
    node->body = block({"else", "endfor"});
    load(chunks_[next_]);
    if (peek().text == "else") {
      end_of("else");
      node->other = block({"endfor"});
    }
    end_of("endfor");
    return node;
  }

  NodePtr if_statement(int line) {
    NodePtr node = make(Op::kIf, line);
    node->condition = expression();
    expect_end();
    node->body = block({"elif", "else", "endif"});
    load(chunks_[next_]);
    if (peek().text == "elif") {
      ++next_;
      take();
      node->other = if_statement(peek().line);  // takes the endif
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
    const Token first = take();
    if (first.kind != Token::Kind::kName) refuse(line, "a set without a name");
    node->names.push_back(first.text);
    if (accept(".")) {
      node->text = take().text;  // namespace attribute
    } else {
      while (accept(",")) node->names.push_back(take().text);
    }
    if (accept("=")) {
      node->children.push_back(tuple_expression());
      expect_end();
      return node;
    }
    expect_end();
    node->op = Op::kSetBlock;
    node->body = block({"endset"});
    end_of("endset");
    return node;
  }

  NodePtr macro_statement(int line) {
    NodePtr node = make(Op::kMacro, line, take().text);
    expect("(");
    while (!accept(")")) {
      node->names.push_back(take().text);
      node->named.emplace_back(node->names.back(), accept("=") ? expression() : nullptr);
      if (!accept(",") && peek().text != ")") refuse(line, "a macro's parameter list");
    }
    expect_end();
    node->body = block({"endmacro"});
    end_of("endmacro");
    return node;
  }

  std::vector<std::string> targets() {
    std::vector<std::string> names;
    const bool parenthesis = accept("(");
    do {
      if (peek().kind != Token::Kind::kName) refuse(peek().line, "a loop variable that is no name");
      names.push_back(take().text);
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
      value = node;
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
      return node;
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
    NodePtr left = unary();
    while (peek().kind == Token::Kind::kOperator && (peek().text == "*" || peek().text == "/" ||
                                                     peek().text == "//" || peek().text == "%")) {
      const std::string op = take().text;
      left = pair(Op::kBinary, op, left, unary());
    }
    if (peek().text == "**" && peek().kind == Token::Kind::kOperator)
      refuse(peek().line, "the operator **");
    return left;
  }
  NodePtr unary() {
    if (++depth_ > kMaxDepth)
      refuse(peek().line, "expressions nested deeper than " + std::to_string(kMaxDepth));
    NodePtr result;
    if (accept("-")) {
      result = make(Op::kNegate, peek().line);
      result->children.push_back(unary());
    } else if (accept("+")) {
      result = unary();
    } else {
      result = postfix(primary());
    }
    --depth_;
    return result;
  }

  NodePtr postfix(NodePtr value) {
    while (true) {
      const Token token = peek();
      if (token.kind == Token::Kind::kName && token.text == "is") {
        take();
        const bool negated = accept_name("not");
        NodePtr test = make(Op::kTest, token.line, take().text);
        test->children.push_back(value);
        if (accept("(")) {
          arguments(test);
        } else if (const Token& after = peek();
                   after.kind == Token::Kind::kString || after.kind == Token::Kind::kInteger) {
          test->children.push_back(primary());
        }
        value = test;
        if (negated) {
          NodePtr node = make(Op::kNot, token.line);
          node->children.push_back(test);
          value = node;
        }
        continue;
      }
      if (token.kind != Token::Kind::kOperator) return value;
      if (token.text == ".") {
        take();
        const Token name = take();
        if (name.kind == Token::Kind::kInteger) {
          NodePtr node = make(Op::kIndex, token.line);
          NodePtr index = make(Op::kLiteral, token.line);
          index->value = Value(static_cast<std::int64_t>(std::atoll(name.text.c_str())));
          node->children = {value, index};
          value = node;
          continue;
        }
        if (name.kind != Token::Kind::kName) refuse(token.line, "an attribute that is no name");
        NodePtr node = make(Op::kAttribute, token.line, name.text);
        node->children.push_back(value);
        value = node;
      } else if (token.text == "[") {
        take();
        value = subscript(value, token.line);
      } else if (token.text == "(") {
        take();
        NodePtr node = make(Op::kCall, token.line);
        node->children.push_back(value);
        arguments(node);
        value = node;
      } else if (token.text == "|") {
        take();
        NodePtr node = make(Op::kFilter, token.line, take().text);
        node->children.push_back(value);
        if (accept("(")) arguments(node);
        value = node;
      } else {
        return value;
      }
    }
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
    return node;
  }

  // --- tokens of the chunk at hand ---
  void load(const Chunk& chunk) {
    tokens_ = tokenize(chunk);
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
};

}  // namespace

void refuse(int line, const std::string& what) {
  throw Error(ErrorCode::kNotSupported,
              "chat template, line " + std::to_string(line) + ": " + what + " is not supported");
}

Template parse(const std::string& text) {
  if (text.size() > kMaxTemplateBytes) refuse(1, "a template of more than 1 MiB");
  // Jinja drops one newline at the very end.
  std::string source = text;
  if (!source.empty() && source.back() == '\n') source.pop_back();
  return {Parser(source).parse()};
}

}  // namespace triescope::tokenizer::jinja

// The statements of a template: blocks, loops, macros. Source: jinja2/parser.py 3.1.
#include <utility>

#include "core/base/error.h"
#include "core/text/jinja/jinja.h"
#include "core/text/jinja/lex.h"
#include "core/text/jinja/parse_expression.h"

namespace triescope::jinja {
namespace {

constexpr std::size_t kMaxTemplateBytes = 1 << 20;

class Parser : private ExpressionParser {
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
  // Parses up to (but not past) a statement whose first word is one of `ends`.
  NodePtr block(const std::vector<std::string>& ends) {
    if (++depth_ > kMaxParseDepth)
      refuse(line(), "blocks nested deeper than " + std::to_string(kMaxParseDepth));
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
    if (word.text == "generation") {  // it marks training masks
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
    expect_name(name);
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
    expect_name("in");
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
    if (elifs > kMaxParseDepth)
      refuse(line, "an if with more than " + std::to_string(kMaxParseDepth) + " branches");
    NodePtr node = make(Op::kIf, line);
    node->condition = or_expression();
    expect_end();
    node->body = block({"elif", "else", "endif"});
    load(chunks_[next_]);
    if (peek().text == "elif") {
      ++next_;
      take();
      node->other = if_statement(peek().line, elifs + 1);  // this takes the endif
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
      node->text = take().text;  // the attribute of a namespace
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

  int line() const {
    return next_ < chunks_.size() ? chunks_[next_].line : chunks_.empty() ? 1 : chunks_.back().line;
  }

  std::vector<Chunk> chunks_;
  std::size_t next_ = 0;
  int loops_ = 0;  // number of loops around the current statement
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

}  // namespace triescope::jinja

#include "lessons/expression_lexer.h"

#include <charconv>
#include <cstring>

#include "core/base/error.h"

namespace triescope::lessons {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

void refuse_expression(std::size_t column, const std::string& why) {
  throw Error(ErrorCode::kCorruption, "column " + std::to_string(column) + ": " + why);
}

void refuse_token(const ExpressionToken& token, const std::string& expected) {
  refuse_expression(
      token.column,
      "expected " + expected + "; found " +
          (token.kind == ExpressionToken::Kind::kEnd ? "the end" : "'" + token.text + "'"));
}

ExpressionToken ExpressionLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  ExpressionToken token;
  token.column = at_ + 1;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  const std::size_t begin = at_;
  if (is_digit(c)) {
    token.kind = ExpressionToken::Kind::kNumber;
    const char* const first = text_.data() + at_;
    const auto [end, error] =
        std::from_chars(first, text_.data() + text_.size(), token.number, std::chars_format::fixed);
    at_ += static_cast<std::size_t>(end - first);
    if (error != std::errc()) refuse_expression(begin + 1, "expected a number of usual size");
  } else if (is_letter(c)) {
    token.kind = ExpressionToken::Kind::kName;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  } else if (c == '"' || c == '\'') {
    token.kind = ExpressionToken::Kind::kText;
    const std::size_t end = text_.find(c, at_ + 1);
    if (end == std::string_view::npos)
      refuse_expression(begin + 1, std::string("expected a closing ") + c + "; found the end");
    at_ = end + 1;
    token.text = text_.substr(begin + 1, end - begin - 1);
    return token;
  } else {
    token.kind = ExpressionToken::Kind::kMark;
    static constexpr const char* kMarks[] = {"!=", "<=", ">=", "==", "=", "<", ">",
                                             "+",  "-",  "*",  "/",  "(", ")", ","};
    for (const char* const mark : kMarks)
      if (text_.substr(at_).starts_with(mark)) {
        at_ += std::strlen(mark);
        token.text = std::string_view(mark) == "==" ? "=" : mark;
        return token;
      }
    token.text = c;
    refuse_token(token, "a number, a text in quotes, a name or an operator");
  }
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

}  // namespace triescope::lessons

// The words of an expression, one after another: numbers, texts, names and operators.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace triescope::lessons {

struct ExpressionToken {
  enum class Kind { kEnd, kNumber, kText, kName, kMark } kind = Kind::kEnd;
  std::string text = {};  // as it stands there, "==" as "="; of kText without its quotes
  double number = 0;
  std::size_t column = 1;
};

// Error{kCorruption}: "column 7: why".
[[noreturn]] void refuse_expression(std::size_t column, const std::string& why);
// "column 7: expected …; found 'x'".
[[noreturn]] void refuse_token(const ExpressionToken& token, const std::string& expected);

// Borrows the text.
class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view text) : text_(text) {}
  // Behind the last one kEnd. Errors: refuse_expression's.
  ExpressionToken next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace triescope::lessons

#include "core/text/jinja/lex.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "core/base/unicode.h"
#include "core/text/jinja/nodes.h"
#include "core/text/jinja/text.h"

namespace triescope::jinja {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

// Jinja reads every kind of line end as \n, and drops one at the very end.
std::string with_plain_newlines(const std::string& source) {
  std::string out;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    out += source[i] == '\r' ? '\n' : source[i];
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : s_(with_plain_newlines(source)) {}

  std::vector<Chunk> run() {
    while (at_ < s_.size()) {
      const std::size_t tag = next_tag();
      std::string text = s_.substr(at_, tag - at_);
      const int text_line = line_;
      advance(tag);
      if (tag == s_.size()) {
        add_text(std::move(text), text_line);
        break;
      }
      const char kind = s_[tag + 1];
      const char sign = tag + 2 < s_.size() ? s_[tag + 2] : '\0';
      strip_before(text, kind, sign);
      add_text(std::move(text), text_line);
      advance(tag + (sign == '-' || sign == '+' ? 3 : 2));
      if (kind == '#')
        comment();
      else if (kind == '{' || !raw_block())
        tag_tokens(kind);
    }
    return std::move(chunks_);
  }

 private:
  std::size_t next_tag() const {
    for (std::size_t i = at_; i + 1 < s_.size(); ++i)
      if (s_[i] == '{' && (s_[i + 1] == '{' || s_[i + 1] == '%' || s_[i + 1] == '#')) return i;
    return s_.size();
  }

  void advance(std::size_t to) {
    for (; at_ < to; ++at_) line_ += s_[at_] == '\n';
  }

  void add_text(std::string text, int line) {
    if (text.empty()) return;
    Chunk chunk;
    chunk.line = line;
    chunk.text = std::move(text);
    chunks_.push_back(std::move(chunk));
  }

  // Strips what a tag's beginning takes from the text before it.
  void strip_before(std::string& text, char kind, char sign) const {
    if (sign == '-') {
      text = stripped(text, std::nullopt, false, true);
    } else if (kind != '{' && sign != '+') {  // lstrip_blocks
      const std::size_t newline = text.rfind('\n');
      const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
      if ((begin > 0 || line_starts_) &&
          stripped(text.substr(begin), std::nullopt, true, false).empty())
        text.resize(begin);
    }
  }

  // Takes a tag's end, with the white space that it eats. `mark` is the end without its sign.
  bool take_end(const std::string& mark, bool trims_newline) {
    const char sign = s_[at_];
    if (sign == '-' && s_.compare(at_ + 1, 2, mark) == 0) {
      advance(after_space(s_, at_ + 3));
    } else if (trims_newline && sign == '+' && s_.compare(at_ + 1, 2, mark) == 0) {
      advance(at_ + 3);
    } else if (s_.compare(at_, 2, mark) == 0) {
      const bool newline = trims_newline && at_ + 2 < s_.size() && s_[at_ + 2] == '\n';
      advance(at_ + (newline ? 3 : 2));
    } else {
      return false;
    }
    line_starts_ = s_[at_ - 1] == '\n';
    return true;
  }

  void comment() {
    const int line = line_;
    while (at_ < s_.size()) {
      if (take_end("#}", true)) return;
      advance(at_ + 1);
    }
    refuse(line, "a comment {# that is not closed");
  }

  void skip_blanks(std::size_t& i) const {
    while (i < s_.size() && blank(s_[i])) ++i;
  }

  // Behind `{%`: reads a raw block to its end, if this is one.
  bool raw_block() {
    std::size_t i = at_;
    skip_blanks(i);
    if (s_.compare(i, 3, "raw") != 0 || (i + 3 < s_.size() && word(s_[i + 3]))) return false;
    i += 3;
    skip_blanks(i);
    const int line = line_;
    const std::size_t saved = at_;
    advance(i);
    if (at_ >= s_.size() || !take_end("%}", false)) {
      at_ = saved;
      line_ = line;
      return false;
    }
    const std::size_t begin = at_;
    const int text_line = line_;
    for (std::size_t tag = begin; (tag = s_.find("{%", tag)) != std::string::npos; ++tag) {
      std::size_t k = tag + 2;
      const char sign = k < s_.size() ? s_[k] : '\0';
      if (sign == '-' || sign == '+') ++k;
      skip_blanks(k);
      if (s_.compare(k, 6, "endraw") != 0) continue;
      k += 6;
      skip_blanks(k);
      std::string text = s_.substr(begin, tag - begin);
      strip_before(text, '%', sign);
      advance(k);
      if (at_ >= s_.size() || !take_end("%}", true)) refuse(line_, "an endraw that does not end");
      add_text(std::move(text), text_line);
      return true;
    }
    refuse(line, "a raw block that is not closed");
  }

  void tag_tokens(char kind) {
    Chunk chunk;
    chunk.kind = kind == '{' ? Chunk::Kind::kPrint : Chunk::Kind::kStatement;
    chunk.line = line_;
    const std::string mark = kind == '{' ? "}}" : "%}";
    std::string open;  // the open brackets
    while (at_ < s_.size()) {
      if (open.empty() && take_end(mark, kind == '%')) {
        chunk.tokens.push_back({Token::Kind::kEnd, "", line_});
        chunks_.push_back(std::move(chunk));
        return;
      }
      const char c = s_[at_];
      if (blank(c)) {
        advance(at_ + 1);
      } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
        std::size_t end = at_;
        while (end < s_.size() && word(s_[end])) ++end;
        take(chunk, Token::Kind::kName, s_.substr(at_, end - at_), end);
      } else if (digit(c)) {
        number(chunk);
      } else if (c == '"' || c == '\'') {
        string(chunk);
      } else {
        operators(chunk, open);
      }
    }
    refuse(chunk.line, std::string("a tag {") + kind + " that is not closed");
  }

  void take(Chunk& chunk, Token::Kind kind, std::string text, std::size_t end) {
    chunk.tokens.push_back({kind, std::move(text), line_});
    advance(end);
  }

  void operators(Chunk& chunk, std::string& open) {
    static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "//", "**"};
    static constexpr std::string_view kOpen = "([{", kClose = ")]}";
    const char c = s_[at_];
    std::string op(1, c);
    for (const std::string_view two : kTwo)
      if (s_.compare(at_, 2, two) == 0) op = two;
    if (op.size() == 1 && std::string_view("+-*/%~<>=()[]{},.:|").find(c) == std::string_view::npos)
      refuse(line_, "the character '" + s_.substr(at_, utf8_step(s_, at_)) + "'");
    if (kOpen.find(c) != std::string_view::npos) open += c;
    if (const auto which = kClose.find(c); which != std::string_view::npos) {
      if (open.empty() || open.back() != kOpen[which])
        refuse(line_, "'" + op + "' that closes nothing");
      open.pop_back();
    }
    take(chunk, Token::Kind::kOperator, op, at_ + op.size());
  }

  // Reads Python's numbers, with underscores; after a dot (`messages.0.role`) without a fraction.
  void number(Chunk& chunk) {
    const bool member = !chunk.tokens.empty() && chunk.tokens.back().text == "." &&
                        chunk.tokens.back().kind == Token::Kind::kOperator;
    const auto digits_from = [&](std::size_t i) {
      while (i < s_.size() &&
             (digit(s_[i]) || (s_[i] == '_' && i + 1 < s_.size() && digit(s_[i + 1]))))
        ++i;
      return i;
    };
    const auto without_underscores = [](std::string text) {
      text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
      return text;
    };
    if (s_[at_] == '0' && at_ + 1 < s_.size() &&
        std::string_view("xXoObB").find(s_[at_ + 1]) != std::string_view::npos) {
      const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(s_[at_ + 1])));
      std::size_t end = at_ + 2;
      while (end < s_.size() &&
             (std::isxdigit(static_cast<unsigned char>(s_[end])) || s_[end] == '_'))
        ++end;
      const std::string digits = without_underscores(s_.substr(at_ + 2, end - at_ - 2));
      std::int64_t value = 0;
      const auto [stop, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value,
                          letter == 'x'   ? 16
                          : letter == 'o' ? 8
                                          : 2);
      if (error != std::errc() || stop != digits.data() + digits.size())
        refuse(line_, "the number '" + s_.substr(at_, end - at_) + "'");
      return take(chunk, Token::Kind::kInteger, std::to_string(value), end);
    }
    std::size_t end = digits_from(at_);
    bool is_float = false;
    if (!member) {
      if (end + 1 < s_.size() && s_[end] == '.' && digit(s_[end + 1])) {
        is_float = true;
        end = digits_from(end + 1);
      }
      if (end < s_.size() && (s_[end] == 'e' || s_[end] == 'E')) {
        std::size_t k = end + 1;
        if (k < s_.size() && (s_[k] == '+' || s_[k] == '-')) ++k;
        if (k < s_.size() && digit(s_[k])) {
          is_float = true;
          end = digits_from(k);
        }
      }
    }
    const std::string text = without_underscores(s_.substr(at_, end - at_));
    std::int64_t value = 0;
    if (!is_float &&
        std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      refuse(line_, "an integer of more than 64 bits");
    take(chunk, is_float ? Token::Kind::kFloat : Token::Kind::kInteger, text, end);
  }

  // Reads a string with Python's escapes.
  void string(Chunk& chunk) {
    const char quote = s_[at_];
    std::string text;
    std::size_t k = at_ + 1;
    for (; k < s_.size() && s_[k] != quote; ++k) {
      if (s_[k] != '\\' || k + 1 >= s_.size()) {
        text += s_[k];
        continue;
      }
      static constexpr std::string_view kFrom = "abfnrtv\\'\"", kTo = "\a\b\f\n\r\t\v\\'\"";
      const char e = s_[++k];
      if (const auto which = kFrom.find(e); which != std::string_view::npos) {
        text += kTo[which];
      } else if (e == 'x' || e == 'u' || e == 'U') {
        k += code_point(text, k + 1, e == 'x' ? 2 : e == 'u' ? 4 : 8, 16);
      } else if (e >= '0' && e <= '7') {
        std::size_t count = 1;
        while (count < 3 && k + count < s_.size() && s_[k + count] >= '0' && s_[k + count] <= '7')
          ++count;
        k += code_point(text, k, count, 8) - 1;
      } else if (e == 'N') {
        refuse(line_, "the escape \\N");
      } else if (e != '\n') {
        text += '\\';
        text += e;
      }
    }
    if (k >= s_.size()) refuse(line_, "a string that is not closed");
    take(chunk, Token::Kind::kString, text, k + 1);
  }

  std::size_t code_point(std::string& text, std::size_t from, std::size_t count, int base) const {
    std::uint32_t code = 0;
    const char* begin = s_.data() + from;
    const char* end = s_.data() + std::min(from + count, s_.size());
    const auto [stop, error] = std::from_chars(begin, end, code, base);
    if (error != std::errc() || stop != begin + count || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000))
      refuse(line_, "the escape '\\" +
                        s_.substr(from - (base == 16 ? 1 : 0), count + (base == 16 ? 1 : 0)) + "'");
    append_utf8(text, code);
    return count;
  }

  std::string s_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // the previous tag ended with its line
  std::vector<Chunk> chunks_;
};

}  // namespace

std::vector<Chunk> lex(const std::string& source) { return Lexer(source).run(); }

}  // namespace triescope::jinja

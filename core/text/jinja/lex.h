// Cuts a template into text and tags, and tags into tokens, by the white space rules of trim_blocks
// and lstrip_blocks. Source: jinja2/lexer.py 3.1. Internal to core/text/jinja.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace triescope::jinja {

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
  int line = 1;
  std::string text;           // kText
  std::vector<Token> tokens;  // kPrint, kStatement; the last is kEnd
};

// Errors: kNotSupported ("line 12: …").
std::vector<Chunk> lex(const std::string& source);

}  // namespace triescope::jinja

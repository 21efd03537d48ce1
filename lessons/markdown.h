// Markdown as blocks of text, or as one line, read by md4c: CommonMark with tables; raw HTML is
// text. A code span that begins with "=" is an expression: `= kv_live(3)`. Links lead to things of
// the run (ts:node/7), to other lessons (file.md) or to the web.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/actions.h"
#include "lessons/expression.h"

namespace triescope::lessons {

// Where a link leads.
struct Link {
  enum class Kind : std::uint8_t { kStep, kNode, kSlot, kPanel, kLesson, kWeb };
  Kind kind = Kind::kWeb;
  Filled target = {};  // "12/accept", "7", "mask", "other.md", "https://…"
  int line = 0;
};

struct Span {
  std::string text = {};
  bool strong = false, emphasis = false, code = false;
  std::optional<Expression> expression = {};  // its value stands here
  std::shared_ptr<const Link> link = {};      // one link may have several spans
  std::string picture = {};  // a PNG file in the lesson's folder; `text` describes it
  int line = 0;
};

struct Block {
  enum class Kind : std::uint8_t {
    kParagraph,
    kHeading,
    kList,
    kItem,
    kCode,
    kTable,
    kRow,
    kCell,
    kQuote,
    kRule
  };
  Kind kind = Kind::kParagraph;
  int line = 0;
  int level = 0;                   // kHeading: 1 to 6
  int number = 0;                  // kItem of an ordered list; 0 = a bullet
  bool header = false;             // kRow
  std::string info = {};           // kCode: the text behind the fence
  std::string text = {};           // kCode
  std::vector<Span> spans = {};    // kParagraph, kHeading, kCell
  std::vector<Block> blocks = {};  // kList, kItem, kTable, kRow, kQuote; kItem has paragraphs
};

inline constexpr int kMostNesting = 12;

// `first_line`: the text's first line in its file. Error{kCorruption}: "FILE:LINE: …" for too deep
// nesting, a wrong link or expression, a picture that is not a PNG in the lesson's folder, or one
// without text.
std::vector<Block> read_markdown(std::string_view text, const std::string& path, int first_line);

// A question, a choice or a task: one line of Markdown with expressions in braces. As a Filled it
// is the same line without marks, for code that compares or speaks it; the block is a paragraph.
struct Marked : Filled {
  Block block = {};
};
// Error{kCorruption}: as parse_filled() and read_markdown(); a picture; an expression in a link's
// address.
Marked read_marked(std::string_view text, const std::string& path, int line);

}  // namespace triescope::lessons

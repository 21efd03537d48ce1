#include "lessons/markdown.h"

#include <md4c.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/error.h"
#include "lessons/front_matter.h"

namespace triescope::lessons {
namespace {

// A link's address; its beginning tells its kind.
Link parse_link(const std::string& address) {
  static constexpr std::pair<const char*, Link::Kind> kKinds[] = {
      {"ts:step/", Link::Kind::kStep},
      {"ts:node/", Link::Kind::kNode},
      {"ts:slot/", Link::Kind::kSlot},
      {"ts:panel/", Link::Kind::kPanel}};
  Link link;
  for (const auto& [begin, kind] : kKinds) {
    if (!address.starts_with(begin)) continue;
    link.kind = kind;
    link.target = parse_filled(address.substr(std::string_view(begin).size()));
    if (link.target.pieces.empty())
      throw Error(ErrorCode::kCorruption, "link: expected a target behind '" + address + "'");
    return link;
  }
  if (address.starts_with("https://") || address.starts_with("http://")) {
    link.kind = Link::Kind::kWeb;
  } else if (is_plain_file_name(address) && address.ends_with(".md")) {
    link.kind = Link::Kind::kLesson;
  } else {
    throw Error(ErrorCode::kCorruption,
                "link: expected ts:step/…, ts:node/…, ts:slot/…, ts:panel/…, a lesson's file name "
                "(other.md) or an https address; found '" +
                    address + "'");
  }
  link.target.pieces = {{address, {}}};
  return link;
}

std::string text_of(const MD_ATTRIBUTE& attribute) {
  return attribute.text ? std::string(attribute.text, attribute.size) : std::string();
}

// The callbacks of md4c, which is C: an exception waits in `failure` until the parser has returned.
class MarkdownReader {
 public:
  MarkdownReader(std::string_view text, const std::string& path, int first_line)
      : text_(text), path_(path), line_(first_line) {
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text[at] == '\n') ends_.push_back(at);
    first_line_ = first_line;
    open_.push_back(&root_);
  }

  std::vector<Block> read() {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<MarkdownReader*>(self)->guarded(
          [&](MarkdownReader& reader) { reader.enter(type, detail); });
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
      return static_cast<MarkdownReader*>(self)->guarded(
          [&](MarkdownReader& reader) { reader.leave(type); });
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<MarkdownReader*>(self)->guarded(
          [&](MarkdownReader& reader) { reader.enter_span(type, detail); });
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
      return static_cast<MarkdownReader*>(self)->guarded(
          [&](MarkdownReader& reader) { reader.leave_span(type); });
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<MarkdownReader*>(self)->guarded([&](MarkdownReader& reader) {
        reader.add_text(type, {text, size});
      });
    };
    const int result = md_parse(text_.data(), static_cast<MD_SIZE>(text_.size()), &parser, this);
    if (failure_) std::rethrow_exception(failure_);
    if (result != 0) throw Error(ErrorCode::kOutOfMemory, path_ + ": out of memory");
    return std::move(root_.blocks);
  }

 private:
  template <class Body>
  int guarded(Body body) {
    try {
      body(*this);
      return 0;
    } catch (const Error& error) {
      failure_ = std::make_exception_ptr(Error(
          error.code(), path_ + ":" + std::to_string(line_) + ": " + std::string(error.what())));
    } catch (...) {
      failure_ = std::current_exception();
    }
    return 1;
  }

  // Text that points into the file tells the place; text that md4c makes up (line ends) does not.
  void locate(const char* text) {
    if (text < text_.data() || text >= text_.data() + text_.size()) return;
    const auto at = static_cast<std::size_t>(text - text_.data());
    const auto before = std::lower_bound(ends_.begin(), ends_.end(), at) - ends_.begin();
    line_ = first_line_ + static_cast<int>(before);
  }

  // Refuses a link that Markdown took for text because its address contains a space. `from`: where
  // new text begins.
  static void check_address(const std::string& text, std::size_t from) {
    if (text.find("](ts:", from < 4 ? 0 : from - 4) != std::string::npos)
      throw Error(ErrorCode::kCorruption,
                  "link: expected an address without spaces, or one in angle brackets, "
                  "[text](<ts:node/{node(best, 3)}>); found one with spaces");
  }

  void open(Block block) {
    if (open_.size() > static_cast<std::size_t>(kMostNesting))
      throw Error(ErrorCode::kCorruption, "lists and quotes are nested more than " +
                                              std::to_string(kMostNesting) + " deep");
    block.line = 0;  // known with its first text
    open_.back()->blocks.push_back(std::move(block));
    open_.push_back(&open_.back()->blocks.back());
  }

  void enter(MD_BLOCKTYPE type, void* detail) {
    using Kind = Block::Kind;
    switch (type) {
      case MD_BLOCK_QUOTE:
        return open({.kind = Kind::kQuote});
      case MD_BLOCK_UL:
        numbers_.push_back(0);
        return open({.kind = Kind::kList});
      case MD_BLOCK_OL:
        numbers_.push_back(
            static_cast<int>(std::min(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start, 1000000u)));
        return open({.kind = Kind::kList});
      case MD_BLOCK_LI:
        open({.kind = Kind::kItem, .number = numbers_.back()});
        if (numbers_.back() > 0) ++numbers_.back();
        return;
      case MD_BLOCK_HR:
        open({.kind = Kind::kRule});
        return;
      case MD_BLOCK_H:
        return open({.kind = Kind::kHeading,
                     .level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level)});
      case MD_BLOCK_CODE:
        return open({.kind = Kind::kCode,
                     .info = text_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->info)});
      case MD_BLOCK_P:
        return open({.kind = Kind::kParagraph});
      case MD_BLOCK_TABLE:
        return open({.kind = Kind::kTable});
      case MD_BLOCK_TR:
        return open({.kind = Kind::kRow, .header = in_head_});
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        return open({.kind = Kind::kCell});
      case MD_BLOCK_THEAD:
        in_head_ = true;
        return;
      case MD_BLOCK_TBODY:
        in_head_ = false;
        return;
      case MD_BLOCK_DOC:
      case MD_BLOCK_HTML:  // switched off
        return;
    }
  }

  void leave(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_DOC || type == MD_BLOCK_THEAD || type == MD_BLOCK_TBODY ||
        type == MD_BLOCK_HTML)
      return;
    if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) numbers_.pop_back();
    Block& block = *open_.back();
    if (block.line == 0) block.line = line_;
    open_.pop_back();
    if (open_.back()->line == 0) open_.back()->line = block.line;
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_EM) ++emphasis_;
    if (type == MD_SPAN_STRONG) ++strong_;
    if (type == MD_SPAN_CODE && picture_.empty()) {
      in_code_ = true;
      code_.clear();
    }
    if (type == MD_SPAN_A) {
      const MD_ATTRIBUTE& address = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
      locate(address.text);
      auto link = std::make_shared<Link>(parse_link(text_of(address)));
      link->line = line_;
      link_ = std::move(link);
    }
    if (type == MD_SPAN_IMG) {
      const MD_ATTRIBUTE& address = static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src;
      locate(address.text);
      picture_ = text_of(address);
      code_.clear();
      if (!is_plain_file_name(picture_) || !picture_.ends_with(".png"))
        throw Error(ErrorCode::kCorruption,
                    "picture: expected the name of a .png file in the lesson's own folder, without "
                    "a path; found '" +
                        picture_ + "'");
    }
  }

  void leave_span(MD_SPANTYPE type) {
    if (type == MD_SPAN_EM) --emphasis_;
    if (type == MD_SPAN_STRONG) --strong_;
    if (type == MD_SPAN_A) link_.reset();
    if (type == MD_SPAN_IMG) {
      if (code_.empty())
        throw Error(ErrorCode::kCorruption,
                    "picture: expected a text between the brackets, which stands for it where it "
                    "cannot be shown: ![what is seen](" +
                        picture_ + ")");
      Span span = fresh_span();
      span.text = code_;
      span.picture = std::exchange(picture_, {});
      open_spans().push_back(std::move(span));
    }
    if (type == MD_SPAN_CODE && picture_.empty()) {
      in_code_ = false;
      Span span = fresh_span();
      if (code_.starts_with('=')) {
        span.expression = Expression::parse(std::string_view(code_).substr(1));
      } else {
        span.code = true;
        span.text = code_;
      }
      open_spans().push_back(std::move(span));
    }
  }

  Span fresh_span() const {
    return {.text = {},
            .strong = strong_ > 0,
            .emphasis = emphasis_ > 0,
            .expression = {},
            .link = link_,
            .line = line_};
  }

  static std::string entity(std::string_view text) {
    static constexpr std::pair<const char*, const char*> kKnown[] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", "\u00A0"}};
    for (const auto& [name, meaning] : kKnown)
      if (text == name) return meaning;
    return std::string(text);
  }

  void add_text(MD_TEXTTYPE type, std::string_view text) {
    locate(text.data());
    if (open_.back()->line == 0) open_.back()->line = line_;
    std::string plain(text);
    if (type == MD_TEXT_NULLCHAR) plain = "\uFFFD";
    if (type == MD_TEXT_BR) plain = "\n";
    if (type == MD_TEXT_SOFTBR) plain = " ";
    if (type == MD_TEXT_ENTITY) plain = entity(text);
    if (open_.back()->kind == Block::Kind::kCode) {
      open_.back()->text += plain;
      return;
    }
    if (in_code_ || !picture_.empty()) {
      code_ += plain;
      return;
    }
    std::vector<Span>& spans = open_spans();
    Span span = fresh_span();
    if (!spans.empty() && !spans.back().expression && !spans.back().code &&
        spans.back().picture.empty() && spans.back().strong == span.strong &&
        spans.back().emphasis == span.emphasis && spans.back().link == span.link) {
      const std::size_t before = spans.back().text.size();
      spans.back().text += plain;
      return check_address(spans.back().text, before);
    }
    check_address(plain, 0);
    span.text = std::move(plain);
    spans.push_back(std::move(span));
  }

  // A tight list's items have their text without a paragraph around it; here they all have one.
  std::vector<Span>& open_spans() {
    Block& block = *open_.back();
    if (block.kind != Block::Kind::kItem) return block.spans;
    if (block.blocks.empty() || block.blocks.back().kind != Block::Kind::kParagraph)
      block.blocks.push_back({.kind = Block::Kind::kParagraph, .line = line_});
    return block.blocks.back().spans;
  }

  // a copy, for the zero behind its end: md4c 0.4.8 looks there for a link's closing bracket
  const std::string text_;
  const std::string& path_;
  std::vector<std::size_t> ends_;  // of the lines
  int first_line_ = 1, line_ = 1;
  Block root_;
  // open blocks; a block's vector grows only while it is the last open one
  std::vector<Block*> open_;
  std::vector<int> numbers_;  // by open list: the next item's number, 0 = bullets
  bool in_head_ = false, in_code_ = false;
  int strong_ = 0, emphasis_ = 0;
  std::string code_;     // of the open code span or picture text
  std::string picture_;  // of the open picture
  std::shared_ptr<const Link> link_;
  std::exception_ptr failure_;
};

// Stands for an expression in braces while Markdown is read: a character that no text contains.
constexpr std::string_view kPlace = "\uE000";
// Put before a line that may look like a list, a quote or a heading and is none.
constexpr char kGuard = '"';

// The spans of one line, with the expressions put back in order.
std::vector<Span> with_expressions(const std::vector<Span>& spans, const Filled& filled) {
  auto piece = filled.pieces.begin();
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!span.picture.empty())
      throw Error(ErrorCode::kCorruption,
                  "expected text; found a picture, which stands in the text of a step");
    if (span.link && !span.link->target.pieces.empty() &&
        span.link->target.pieces.front().text.find(kPlace) != std::string::npos)
      throw Error(ErrorCode::kCorruption,
                  "link: expected an address without an expression, for this is a question, a "
                  "choice or a task");
    const auto add = [&](std::string text, std::optional<Expression> expression) {
      all.push_back(span);
      all.back().text = std::move(text);
      all.back().expression = std::move(expression);
    };
    if (span.expression) {
      all.push_back(span);
      continue;
    }
    for (std::size_t from = 0; from <= span.text.size();) {
      const std::size_t place = std::min(span.text.find(kPlace, from), span.text.size());
      if (place > from) add(span.text.substr(from, place - from), {});
      if (place == span.text.size()) break;
      while (piece != filled.pieces.end() && piece->expressions.empty()) ++piece;
      if (piece == filled.pieces.end()) break;
      add("", (piece++)->expressions.front());
      from = place + kPlace.size();
    }
  }
  return all;
}

}  // namespace

Marked read_marked(std::string_view text, const std::string& path, int line) {
  Marked marked;
  marked.block = {.kind = Block::Kind::kParagraph, .line = line};
  if (text.empty()) return marked;
  const auto at_line = [&](auto body) {
    try {
      return body();
    } catch (const Error& error) {
      throw Error(error.code(), path + ":" + std::to_string(line) + ": " + error.what());
    }
  };
  std::string clean(text);
  for (std::size_t at; (at = clean.find(kPlace)) != std::string::npos;)
    clean.erase(at, kPlace.size());
  const Filled filled = at_line([&] { return parse_filled(clean); });
  std::string source(1, kGuard);
  for (const Filled::Piece& piece : filled.pieces)
    source += piece.expressions.empty() ? piece.text : std::string(kPlace);
  std::vector<Block> blocks = read_markdown(source, path, line);
  std::vector<Span>& spans = blocks.front().spans;
  spans.front().text.erase(0, 1);
  marked.block.spans = at_line([&] { return with_expressions(spans, filled); });
  for (const Span& span : marked.block.spans) {
    if (span.expression)
      marked.pieces.push_back({"", {*span.expression}});
    else if (marked.pieces.empty() || !marked.pieces.back().expressions.empty())
      marked.pieces.push_back({span.text, {}});
    else
      marked.pieces.back().text += span.text;
  }
  return marked;
}

std::vector<Block> read_markdown(std::string_view text, const std::string& path, int first_line) {
  return MarkdownReader(text, path, first_line).read();
}

}  // namespace triescope::lessons

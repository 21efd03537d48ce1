#include "app/window/lessons/lesson_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace triescope::app {
namespace {

using lessons::Block;
using lessons::Span;
using viz::FontFace;
using viz::Rect;

constexpr float kUsualEm = 15;  // px, the text size that pictures are made for
constexpr float kLineEm = 1.5f, kGapEm = 0.55f, kIndentEm = 1.5f;

// A word has no line break in it; it may consist of pieces of several spans.
using Word = std::vector<LessonRun>;

class Layout {
 public:
  Layout(viz::Canvas& canvas, const LessonLook& look) : canvas_(canvas), look_(look) {}

  LessonText text;

  // Returns the height used.
  float block(const Block& block, float x, float y, float width) {
    switch (block.kind) {
      case Block::Kind::kParagraph:
        return flow(block.spans, x, y, width, false) + gap();
      case Block::Kind::kHeading:
        return flow(block.spans, x, y, width, true) + gap();
      case Block::Kind::kList:
      case Block::Kind::kQuote:
        return children(block, x, y, width);
      case Block::Kind::kItem:
        return item(block, x, y, width);
      case Block::Kind::kCode:
        return code(block, x, y, width);
      case Block::Kind::kTable:
        return table(block, x, y, width);
      case Block::Kind::kRule:
        text.rules.push_back({x, y + gap(), width, std::max(1.0f, em() * 0.06f)});
        return gap() * 2;
      case Block::Kind::kRow:
      case Block::Kind::kCell:
        break;  // table() draws them
    }
    return 0;
  }

 private:
  float em() const { return look_.em; }
  float gap() const { return em() * kGapEm; }
  float line() const { return em() * kLineEm; }

  viz::TextStyle style(bool bold, bool mono = false) const {
    return {mono   ? FontFace::kMono
            : bold ? FontFace::kUiBold
                   : FontFace::kUi,
            mono ? em() * 0.92f : em(), look_.theme.text};
  }

  std::vector<Word> words(const std::vector<Span>& spans, bool bold) const {
    std::vector<Word> words;
    bool begins = true;
    for (const Span& span : spans) {
      const std::string value = span.expression ? look_.value(*span.expression) : span.text;
      const bool token = span.expression && value.starts_with('\'');
      LessonRun run{
          {},        {},        style(bold || token || span.strong || span.emphasis, span.code),
          span.link, span.code, span.strong || span.emphasis};
      if (run.link) run.style.color = look_.theme.legible(look_.theme.accent);
      const auto flush = [&] {
        if (run.text.empty()) return;
        if (begins) words.emplace_back();
        words.back().push_back(run);
        run.text.clear();
        begins = false;
      };
      for (const char c : value) {
        if (c != ' ' && c != '\n') {
          run.text += c;
          continue;
        }
        flush();
        begins = true;
        if (c == '\n') words.emplace_back();  // a line break
      }
      flush();
    }
    return words;
  }

  float width_of(const Word& word) const {
    float width = 0;
    for (const LessonRun& run : word) width += canvas_.measure(run.text, run.style).x;
    return width;
  }

  // Draws text with pictures, each on a line of its own. Returns the height.
  float flow(const std::vector<Span>& spans, float x, float y, float width, bool bold) {
    float used = 0;
    std::vector<Span> text;
    const auto flush = [&] {
      const bool blank = std::all_of(text.begin(), text.end(), [](const Span& span) {
        return !span.expression && span.text.find_first_not_of(" \n") == std::string::npos;
      });
      if (!blank) used += flow_words(text, x, y + used, width, bold);
      text.clear();
    };
    for (const Span& span : spans) {
      if (span.picture.empty()) {
        text.push_back(span);
        continue;
      }
      flush();
      used += picture(span, x, y + used, width);
    }
    flush();
    return std::max(used, line());
  }

  // At the usual text size a picture has its file's size; it is never wider than the room.
  float picture(const Span& span, float x, float y, float width) {
    const viz::Point size = look_.picture ? look_.picture(span.picture) : viz::Point{};
    if (size.x <= 0 || size.y <= 0) {
      const float pad = em() * 0.6f;
      const float height = pad + flow_words({{.text = "Picture: " + span.text, .emphasis = true}},
                                            x + pad, y + pad * 0.5f, width - 2 * pad, false);
      text.grounds.push_back({x, y, width, height});
      text.pictures.push_back({{x, y, width, height}, span.picture, span.text, false});
      return height + gap() * 0.5f;
    }
    const float w = std::min(size.x * em() / kUsualEm, width), h = w * size.y / size.x;
    text.pictures.push_back({{x, y, w, h}, span.picture, span.text, true});
    return h + gap() * 0.5f;
  }

  // Breaks words into lines. Returns the height.
  float flow_words(const std::vector<Span>& spans, float x, float y, float width, bool bold) {
    const float space = canvas_.measure(" ", style(false)).x;
    float at = x, top = y;
    for (Word& word : words(spans, bold)) {
      const float room = width_of(word);
      if (word.empty() || (at > x && at + room > x + width)) {
        at = x;
        top += line();
      }
      for (LessonRun& run : word) {
        const float w = canvas_.measure(run.text, run.style).x;
        run.box = {at, top, w, line()};
        if (bold && run.emphasis)
          text.strokes.push_back(
              {at, top + line() * 0.84f, w, std::max(1.0f, std::round(em() * 0.07f))});
        at += w;
        text.runs.push_back(std::move(run));
      }
      if (!word.empty()) at += space;
    }
    return top + line() - y;
  }

  float children(const Block& block, float x, float y, float width) {
    const bool quote = block.kind == Block::Kind::kQuote;
    const float before = indent_;
    indent_ = em() * kIndentEm;
    for (const Block& inner : block.blocks)
      indent_ = std::max(indent_, canvas_.measure(mark_of(inner), style(false)).x + em() * 0.6f);
    const float inset = quote ? em() : 0;
    float used = 0;
    for (const Block& inner : block.blocks)
      used += this->block(inner, x + inset, y + used, width - inset);
    indent_ = before;
    if (quote)
      text.rules.push_back({x, y, std::max(1.0f, em() * 0.18f), std::max(0.0f, used - gap())});
    return used;
  }

  static std::string mark_of(const Block& item) {
    return item.number > 0 ? std::to_string(item.number) + "." : "•";
  }

  float item(const Block& block, float x, float y, float width) {
    const std::string mark = mark_of(block);
    const float w = canvas_.measure(mark, style(false)).x, indent = indent_;
    text.runs.push_back(
        {{x + std::max(0.0f, indent - w - em() * 0.45f), y, w, line()}, mark, style(false)});
    float used = 0;
    for (const Block& inner : block.blocks)
      used += this->block(inner, x + indent, y + used, width - indent);
    return std::max(used - gap() * 0.7f, line());
  }

  float code(const Block& block, float x, float y, float width) {
    std::istringstream lines(block.text);
    float used = em() * 0.35f;
    for (std::string one; std::getline(lines, one);) {
      text.runs.push_back(
          {{x + em() * 0.6f, y + used, width - em(), line()}, one, style(false, true)});
      used += line() * 0.9f;
    }
    used += em() * 0.35f;
    text.grounds.push_back({x, y, width, used});
    return used + gap();
  }

  // Columns are as wide as their widest cell; where that is too much, all shrink in proportion.
  float table(const Block& block, float x, float y, float width) {
    const float pad = em() * 0.5f;
    std::vector<float> columns;
    for (const Block& row : block.blocks) {
      columns.resize(std::max(columns.size(), row.blocks.size()), 0);
      for (std::size_t i = 0; i < row.blocks.size(); ++i) {
        const float space = canvas_.measure(" ", style(false)).x;
        float wanted = 0;
        for (const Word& word : words(row.blocks[i].spans, row.header))
          wanted += width_of(word) + space;
        columns[i] = std::max(columns[i], wanted + 2 * pad);
      }
    }
    float all = 0;
    for (const float column : columns) all += column;
    if (all > width)
      for (float& column : columns) column *= width / all;
    all = std::min(all, width);
    float used = 0;
    for (const Block& row : block.blocks) {
      float height = line(), at = x;
      for (std::size_t i = 0; i < row.blocks.size(); ++i) {
        height = std::max(height, flow(row.blocks[i].spans, at + pad, y + used + em() * 0.15f,
                                       std::max(em(), columns[i] - 2 * pad), row.header));
        at += columns[i];
      }
      height += em() * 0.3f;
      if (row.header) text.grounds.push_back({x, y + used, all, height});
      used += height;
      text.rules.push_back({x, y + used, all, std::max(1.0f, em() * 0.05f)});
    }
    return used + gap();
  }

  viz::Canvas& canvas_;
  const LessonLook& look_;
  float indent_ = 0;  // of the list being drawn: the width of its widest mark
};

}  // namespace

LessonText lay_out_lesson(viz::Canvas& canvas, const lessons::Block& block, float width,
                          const LessonLook& look) {
  Layout layout(canvas, look);
  layout.text.height = layout.block(block, 0, 0, width);
  return std::move(layout.text);
}

}  // namespace triescope::app

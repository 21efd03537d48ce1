#include "app/window/lessons/lesson_text.h"

#include <algorithm>
#include <sstream>

#include "app/window/lessons/lesson_lines.h"

namespace triescope::app {
namespace {

using lessons::Block;

constexpr float kIndentEm = 1.5f;

class Layout : public LessonLines {
 public:
  using LessonLines::LessonLines;

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
  float children(const Block& block, float x, float y, float width) {
    const bool quote = block.kind == Block::Kind::kQuote;
    const float before = indent_;
    indent_ = em() * kIndentEm;
    for (const Block& inner : block.blocks)
      indent_ = std::max(indent_, measure(mark_of(inner)) + em() * 0.6f);
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
    const float w = measure(mark), indent = indent_;
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
        const float space = measure(" ");
        float wanted = 0;
        for (const LessonWord& word : words(row.blocks[i].spans, row.header))
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

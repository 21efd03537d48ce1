#include "app/lesson/lesson_page_text.h"

#include <glib.h>

#include <memory>

#include "app/lesson/lesson_pictures.h"
#include "app/lesson/lesson_words.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

using lessons::Block;
using nlohmann::json;

const char* kind_name(Block::Kind kind) {
  switch (kind) {
    case Block::Kind::kParagraph:
      return "paragraph";
    case Block::Kind::kHeading:
      return "heading";
    case Block::Kind::kList:
      return "list";
    case Block::Kind::kItem:
      return "item";
    case Block::Kind::kCode:
      return "code";
    case Block::Kind::kTable:
      return "table";
    case Block::Kind::kRow:
      return "row";
    case Block::Kind::kCell:
      return "cell";
    case Block::Kind::kQuote:
      return "quote";
    case Block::Kind::kRule:
      return "rule";
  }
  return "";
}

std::string value_in(const lessons::Expression& expression, const lessons::Trace& trace) {
  try {
    return shown_value(evaluate(expression, trace));
  } catch (const Error&) {
    return "?";  // as in the window; `lesson check` says why
  }
}

std::string png_address(const std::string& bytes) {
  const std::unique_ptr<gchar, decltype(&g_free)> text(
      g_base64_encode(reinterpret_cast<const guchar*>(bytes.data()), bytes.size()), &g_free);
  return std::string("data:image/png;base64,") + text.get();
}

}  // namespace

json block_json(const LibraryLesson& lesson, const Block& block, LessonScenes& scenes,
                const LessonScene& scene, bool& pictures) {
  json out = {{"kind", kind_name(block.kind)}};
  if (block.kind == Block::Kind::kHeading) out["level"] = block.level;
  if (block.kind == Block::Kind::kCode) out["text"] = block.text;
  if (block.header) out["header"] = true;
  // Whether a list is numbered depends on its items.
  if (block.kind == Block::Kind::kList && !block.blocks.empty() && block.blocks[0].number > 0)
    out["number"] = block.blocks[0].number;
  for (const lessons::Span& span : block.spans) {
    if (!span.picture.empty()) {
      out["spans"].push_back(
          {{"picture", png_address(picture_bytes(lesson, span.picture))}, {"text", span.text}});
      pictures = true;
      continue;
    }
    const std::string text =
        span.expression ? value_in(*span.expression, scenes.trace()) : span.text;
    json one = json::object();
    if (span.strong) one["strong"] = true;
    if (span.emphasis) one["emphasis"] = true;
    if (span.code) one["code"] = true;
    if (span.link)
      if (std::string target = scenes.target_of(*span.link, scene); !target.empty())
        one["link"] = std::move(target);
    if (one.empty()) {
      out["spans"].push_back(text);
    } else {
      one["text"] = text;
      out["spans"].push_back(std::move(one));
    }
  }
  for (const Block& inner : block.blocks)
    out["blocks"].push_back(block_json(lesson, inner, scenes, scene, pictures));
  return out;
}

}  // namespace triescope::app

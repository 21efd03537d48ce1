// A lesson file: front matter, Markdown, expressions, questions and tasks. What a reader gives is
// also walked, as the window does to draw it.
#include "lessons/lesson.h"

#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

std::size_t texts_of(const lessons::Block& block) {
  std::size_t bytes = block.text.size();
  for (const lessons::Span& span : block.spans) bytes += span.text.size();
  for (const lessons::Block& inner : block.blocks) bytes += texts_of(inner);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const lessons::Lesson lesson = lessons::read_lesson(fuzz::text_of(data, size), "fuzz.md");
    std::size_t bytes = 0, sources = 0;
    for (const lessons::Step& step : lesson.steps) sources += step.source.size();
    if (sources > size) __builtin_trap();  // no line belongs to two steps
    for (const lessons::Step& step : lesson.steps)
      for (const lessons::Piece& piece : step.pieces)
        if (const auto* const block = std::get_if<lessons::Block>(&piece))
          bytes += texts_of(*block);
    if (bytes > size * 8) __builtin_trap();  // an entity grows to three bytes; nothing grows more
  });
  return 0;
}

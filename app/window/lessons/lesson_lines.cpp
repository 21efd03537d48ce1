#include "app/window/lessons/lesson_lines.h"

#include <algorithm>
#include <cmath>

namespace triescope::app {
namespace {

using lessons::Span;
using viz::FontFace;

constexpr float kUsualEm = 15;  // px, the text size that pictures are made for

}  // namespace

float LessonLines::measure(const std::string& words) const {
  return canvas_.measure(words, style(false)).x;
}

viz::TextStyle LessonLines::style(bool bold, bool mono) const {
  return {mono   ? FontFace::kMono
          : bold ? FontFace::kUiBold
                 : FontFace::kUi,
          mono ? em() * 0.92f : em(), look_.theme.text};
}

std::vector<LessonWord> LessonLines::words(const std::vector<Span>& spans, bool bold) const {
  std::vector<LessonWord> words;
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

float LessonLines::width_of(const LessonWord& word) const {
  float width = 0;
  for (const LessonRun& run : word) width += canvas_.measure(run.text, run.style).x;
  return width;
}

float LessonLines::flow(const std::vector<Span>& spans, float x, float y, float width, bool bold) {
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
float LessonLines::picture(const Span& span, float x, float y, float width) {
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
float LessonLines::flow_words(const std::vector<Span>& spans, float x, float y, float width,
                              bool bold) {
  const float space = canvas_.measure(" ", style(false)).x;
  float at = x, top = y;
  for (LessonWord& word : words(spans, bold)) {
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

}  // namespace triescope::app

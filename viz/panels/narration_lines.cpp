#include "viz/panels/narration_lines.h"

#include <algorithm>
#include <utility>

#include "viz/draw/drawing.h"

namespace triescope::viz {
namespace {

constexpr float kLineEm = 1.5f;

// A word has no line break in it; it may consist of pieces of several parts.
using Word = std::vector<NarrationSpan>;

TextStyle style_of(const Part& part, const Scene& scene) {
  return part.is_token ? bold_text(scene) : ui_text(scene);
}

// Lines break at spaces of the template's words and of plain values, never within a token.
std::vector<Word> words_of(const Sentence& sentence, std::size_t index, const Scene& scene) {
  std::vector<Word> words;
  bool begins = true;
  for (std::size_t k = 0; k < sentence.parts.size(); ++k) {
    const Part& part = sentence.parts[k];
    std::string text;
    const auto flush = [&] {
      if (text.empty()) return;
      if (begins) words.emplace_back();
      words.back().push_back({{}, text, style_of(part, scene), index, k});
      text.clear();
      begins = false;
    };
    for (const char c : part.text) {
      if (c != ' ' || part.is_token) {
        text += c;
        continue;
      }
      flush();
      begins = true;
    }
    flush();
  }
  return words;
}

}  // namespace

NarrationLines lay_out_narration(Canvas& canvas, float width, const Scene& scene,
                                 const Narration& narration) {
  const float em = scene.em, left = em * 0.7f, right = std::max(left + em * 6, width - em * 0.7f);
  const float line = em * kLineEm, space = canvas.measure(" ", ui_text(scene)).x;
  NarrationLines lines;
  float y = em * 0.5f;
  for (std::size_t i = 0; i < narration.sentences.size(); ++i) {
    float x = left;
    for (Word& word : words_of(narration.sentences[i], i, scene)) {
      float room = 0;
      for (NarrationSpan& span : word) room += canvas.measure(span.text, span.style).x;
      if (x > left && x + room > right) {
        x = left;
        y += line;
      }
      for (NarrationSpan& span : word) {
        // A word longer than a line is cut.
        if (x + canvas.measure(span.text, span.style).x > right)
          span.text = fit_text(canvas, span.text, span.style, right - x);
        const float w = canvas.measure(span.text, span.style).x;
        span.box = {x, y, w, line};
        x += w;
        if (!span.text.empty()) lines.spans.push_back(std::move(span));
      }
      x += space;
    }
    y += line + em * 0.25f;
  }
  lines.height = y + em * 0.25f;
  return lines;
}

}  // namespace triescope::viz

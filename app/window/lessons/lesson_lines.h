// Breaks a lesson's words and pictures into lines.
#pragma once

#include <string>
#include <vector>

#include "app/window/lessons/lesson_text.h"

namespace triescope::app {

// A word has no line break in it; it may consist of pieces of several spans.
using LessonWord = std::vector<LessonRun>;

class LessonLines {
 public:
  LessonLines(viz::Canvas& canvas, const LessonLook& look) : canvas_(canvas), look_(look) {}

  LessonText text;  // what was laid out so far

  float em() const { return look_.em; }  // px
  float gap() const { return em() * 0.55f; }
  float line() const { return em() * 1.5f; }
  viz::TextStyle style(bool bold, bool mono = false) const;
  float measure(const std::string& words) const;  // px, in the usual style

  std::vector<LessonWord> words(const std::vector<lessons::Span>& spans, bool bold) const;
  float width_of(const LessonWord& word) const;
  // Adds text with pictures, each on a line of its own. Returns the height.
  float flow(const std::vector<lessons::Span>& spans, float x, float y, float width, bool bold);

 private:
  float picture(const lessons::Span& span, float x, float y, float width);
  float flow_words(const std::vector<lessons::Span>& spans, float x, float y, float width,
                   bool bold);

  viz::Canvas& canvas_;
  const LessonLook& look_;
};

}  // namespace triescope::app

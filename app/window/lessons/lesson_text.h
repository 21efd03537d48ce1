// Breaks a lesson's blocks into lines, which the lesson pane draws. Sizes in px, from the top left
// of the block. Pure except for the canvas, which measures.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lessons/markdown.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/theme.h"

namespace triescope::app {

// A piece of a line.
struct LessonRun {
  viz::Rect box;
  std::string text;
  viz::TextStyle style;
  std::shared_ptr<const lessons::Link> link = {};
  bool code = false, emphasis = false;
};
// A picture. Where it cannot be shown, its text stands in its place, among the runs.
struct LessonPicture {
  viz::Rect box;
  std::string file, text;
  bool shown = false;
};
struct LessonText {
  std::vector<LessonRun> runs;     // from top to bottom
  std::vector<viz::Rect> grounds;  // behind code blocks and table heads
  std::vector<viz::Rect> rules;    // filled lines
  std::vector<viz::Rect> strokes;  // below emphasised words where all words are bold
  std::vector<LessonPicture> pictures;
  float height = 0;
};

struct LessonLook {
  viz::Theme theme;
  float em = 15;
  // Returns the value that replaces an expression.
  std::function<std::string(const lessons::Expression&)> value;
  // Returns the size of a picture's file, in px; 0 where it cannot be shown.
  std::function<viz::Point(const std::string& file)> picture = {};
};

LessonText lay_out_lesson(viz::Canvas& canvas, const lessons::Block& block, float width,
                          const LessonLook& look);

}  // namespace triescope::app

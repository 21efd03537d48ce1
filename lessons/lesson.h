// Start here. Lesson: a Markdown file that a lecturer writes and the window plays beside a run.
//
//   front_matter.h   what stands between the first two "---": title, minutes, which run
//   markdown.h       the rest, as blocks of text (by md4c)
//   read_lesson.cpp  blocks into steps: text, do, predict, check, experiment, notes
//   expression.h     what answers, conditions and numbers are computed from
//   trace.h          the names that expressions know: a run's capture
//   experiment.h     many draws by a rule, held against what should have come out
//   check_lesson.h   holds a lesson against its run
//
// A lesson file is untrusted: its size and nesting are limited, it names only files of its own
// folder, and what it may do is a list (actions.h) that writes nothing and starts no program. Every
// refusal says file, line, what was expected and what was found. Immutable once read; safe from any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lessons/actions.h"
#include "lessons/experiment.h"
#include "lessons/expression.h"
#include "lessons/front_matter.h"
#include "lessons/markdown.h"

namespace triescope::lessons {

// An expression and its place in the file.
struct Computed {
  Expression expression;
  int line = 0;
};

struct Choice {
  Marked text = {};                    // empty: its value is shown
  std::optional<Computed> value = {};  // compared with the answer; else the text itself is
  int line = 0;
};

// A question. The rest of the step stays hidden until it is answered.
struct Predict {
  Marked question = {};
  std::vector<Choice> choices = {};  // empty: a number is asked for
  Computed answer = {};
  double within = 0;  // a number this close counts as right
  // the answer that the author saw: `lesson check` reports a change
  std::optional<Computed> expected = {};
  int line = 0;
};

// A task: met once `when` is true of what the window shows. "Show me" performs `show`.
struct Task {
  Marked text = {};
  Computed when = {};
  std::vector<Action> show = {};
  int line = 0;
};

struct Notes {
  std::vector<Block> blocks = {};  // only for the lecturer
};

using Piece = std::variant<Block, std::vector<Action>, Predict, Task, Notes, Experiment>;

struct Step {
  std::string title = {};
  int line = 0;
  std::vector<Piece> pieces = {};
  std::string source = {};  // its lines as in the file, the title's first
};

struct Lesson {
  std::string path = {};  // for messages
  FrontMatter about = {};
  std::vector<Step> steps = {};
};

// `path` is only for messages. Error{kCorruption}: "FILE:LINE: expected …; found …".
Lesson read_lesson(std::string_view text, const std::string& path);

}  // namespace triescope::lessons

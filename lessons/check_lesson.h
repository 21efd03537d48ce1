// Holds a lesson against its run: everything that names a step, a node, a slot or a panel must be
// there, every expression must come to a value, every answer must be one of its choices, and every
// task must be met by what its "Show me" does. From the capture alone.
#pragma once

#include <string>
#include <vector>

#include "lessons/lesson.h"
#include "lessons/trace.h"

namespace triescope::lessons {

struct Finding {
  int line = 0;
  std::string text = {};
};

// What a question's answer comes to, and which of its choices that is (-1: none, or a number is asked
// for). Error{kCorruption}: an expression of it cannot be evaluated, or two choices are the answer.
struct Answer {
  Value value;
  int choice = -1;
};
Answer answer_of(const Predict& predict, const Trace& trace);
// What a choice stands for: its value, else its text as a number, else its text.
Value value_of(const Choice& choice, const Trace& trace);

// `panels`, `lessons`: the names of panels, and of the lesson files beside this one. In the order of lines;
// empty = nothing is wrong.
std::vector<Finding> check_lesson(const Lesson& lesson, const capture::Capture& capture,
                                  const std::vector<std::string>& panels,
                                  const std::vector<std::string>& lessons);
// Where the answers differ between two runs of the same lesson: what a change of the model moved.
// Runs of one model on two processors agree: numbers that are not whole may differ by 1e-4 of their value.
std::vector<Finding> moved_answers(const Lesson& lesson, const capture::Capture& before,
                                   const capture::Capture& now);

}  // namespace triescope::lessons

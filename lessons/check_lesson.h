// Checks a lesson against its run: every step, node, slot and panel that it names must exist, every
// expression must have a value, every answer must be one of its choices, and what a task's "Show
// me" does must complete the task. Only the capture is needed.
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

// The value of a question's answer, and the choice that it is (-1: none, or a number is asked for).
// Error{kCorruption}: one of its expressions cannot be evaluated, or two choices are the answer.
struct Answer {
  Value value;
  int choice = -1;
};
Answer answer_of(const Predict& predict, const Trace& trace);
// The value of a choice: its expression's, else its text as a number, else its text.
Value value_of(const Choice& choice, const Trace& trace);

// `panels`, `lessons`: the names of panels, and of the lesson files beside this one. The findings
// are in the order of lines; empty = nothing is wrong.
std::vector<Finding> check_lesson(const Lesson& lesson, const capture::Capture& capture,
                                  const std::vector<std::string>& panels,
                                  const std::vector<std::string>& lessons);
// Where the answers differ between two runs of the same lesson, which a change of the model moved.
// Runs of one model on two processors agree: numbers that are not whole may differ by 1e-4 of their
// value.
std::vector<Finding> moved_answers(const Lesson& lesson, const capture::Capture& before,
                                   const capture::Capture& now);

}  // namespace triescope::lessons

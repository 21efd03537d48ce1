// LessonProgress: where somebody is in a lesson, what was answered, which tasks are met. And how that is
// carried over to another version of the lesson while it is being written. Plain values.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "lessons/lesson.h"

namespace triescope::app {

// What somebody said to a question.
struct LessonAnswer {
  int choice = -1;  // of the choices; -1 = none: a number, or the answer was asked for
  std::optional<double> number = {};
  bool operator==(const LessonAnswer&) const = default;
};

struct LessonProgress {
  using Place = std::pair<std::size_t, std::size_t>;  // step, piece
  std::size_t step = 0;
  std::map<Place, LessonAnswer> given = {};
  std::set<Place> met = {};
  bool operator==(const LessonProgress&) const = default;
};

// "2 of 5 answered"; "" where no question was answered, or all were.
std::string answered_text(const LessonProgress& progress, const lessons::Lesson& lesson);

// Steps that did not change, wherever they stand now, keep their answers and tasks; the others begin
// from nothing. One stays at the step one was at, else at the one of its title, else at its number.
// REQUIRES: both have steps.
LessonProgress carried_over(const LessonProgress& progress, std::span<const lessons::Step> before,
                            std::span<const lessons::Step> after);

}  // namespace triescope::app

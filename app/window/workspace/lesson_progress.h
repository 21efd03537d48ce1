// LessonProgress: where somebody is in a lesson, what was answered, which tasks are met.
// carried_over() moves it to another version of the lesson while that is being written. Plain
// values.
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

// An answer to a question.
struct LessonAnswer {
  int choice = -1;  // index of the choice; -1 = a number was given, or the answer was shown
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

// "2 of 5 answered"; "" where no question was answered, or every one was.
std::string answered_text(const LessonProgress& progress, const lessons::Lesson& lesson);

// Steps that did not change keep their answers and tasks, wherever they stand now; the others begin
// from nothing. One stays at the same step, else at the step of the same title, else at the same
// number. REQUIRES: both versions have steps.
LessonProgress carried_over(const LessonProgress& progress, std::span<const lessons::Step> before,
                            std::span<const lessons::Step> after);

}  // namespace triescope::app

#include "app/lesson/lesson_beside.h"

#include "core/base/error.h"
#include "core/capture/capture.h"

namespace triescope::app {
namespace {

void check_line(const LibraryLesson& lesson, const lessons::Action& action,
                std::vector<lessons::Finding>& findings) {
  // A name that is computed is looked up when the step is shown.
  if (!compares(action) || action.argument.pieces.size() != 1) return;
  try {
    capture::Capture::open(capture_beside(lesson, action.argument.pieces.front().text));
  } catch (const Error& error) {
    findings.push_back({action.line, error.what()});
  }
}

}  // namespace

std::vector<lessons::Finding> check_beside(const LibraryLesson& lesson) {
  std::vector<lessons::Finding> findings;
  for (const lessons::Step& step : lesson.lesson.steps)
    for (const lessons::Piece& piece : step.pieces) {
      if (const auto* const actions = std::get_if<std::vector<lessons::Action>>(&piece))
        for (const lessons::Action& action : *actions) check_line(lesson, action, findings);
      if (const auto* const task = std::get_if<lessons::Task>(&piece))
        for (const lessons::Action& action : task->show) check_line(lesson, action, findings);
    }
  return findings;
}

}  // namespace triescope::app

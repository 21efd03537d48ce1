// Lesson scenes: what the do blocks of a lesson show, computed once, for a page that has neither
// the program nor the expressions. A view is a numbered moment of the run: step × 5 + phase, the
// last being the end; views that are limited to a range of steps follow. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lessons/lesson.h"
#include "lessons/trace.h"
#include "viz/handout/pane_pictures.h"
#include "viz/query/step_range.h"

namespace triescope::app {

struct LessonScene {
  std::vector<std::string> panels;  // one to three
  std::int32_t view = 0;
  std::int32_t lock = -1;     // node in focus; -1 = none
  viz::StepRange range = {};  // `view` already respects it
};

class LessonScenes {
 public:
  // Adds every phase of every step of the run. Error{kInvalidArgument}: more than kMostSteps.
  LessonScenes(const capture::Capture& capture, std::string path);
  static constexpr std::int32_t kMostSteps = 200;

  // The scene with which a step begins: the panels of the previous one, nothing selected, no range.
  static LessonScene begin(const LessonScene& before);
  // `scene` after these lines. `runs` gets what only the program shows: the changes of lines that decode,
  // such as "num_beams=5", and "beside NAME.tscap".
  // Error{kCorruption}: as resolve(), with file and line.
  LessonScene after(LessonScene scene, const std::vector<lessons::Action>& actions,
                    std::vector<std::string>& runs);
  // Where a link on a page leads, seen from `scene`: "n7" a node, "v61" a view, "pmask" a panel,
  // "l" + another lesson's page, "w" + an address; "" if the run does not have it.
  std::string target_of(const lessons::Link& link, const LessonScene& scene);
  // Where a task's condition is true: views, each with the node that must be in focus for it (none:
  // any node will do). Panels that the condition asks for count as shown.
  std::vector<std::pair<std::int32_t, std::optional<std::int32_t>>> met_at(
      const lessons::Task& task) const;

  std::int32_t view_of(capture::Tick tick) const;
  std::int32_t end() const { return end_; }
  const std::vector<viz::PaneView>& views() const { return views_; }
  // Every panel that a scene or a link shows.
  const std::set<std::string>& panels() const { return panels_; }
  lessons::Trace trace() const { return {capture_}; }

 private:
  const capture::Capture& capture_;
  std::string path_;
  std::int32_t end_ = 0;
  std::vector<viz::PaneView> views_;
  std::set<std::string> panels_;
};

}  // namespace triescope::app

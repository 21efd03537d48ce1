#include "app/window/workspace/runs_side_by_side.h"

namespace triescope::app {

void RunsSideBySide::show(const std::vector<StudyRow>& rows, const std::vector<std::string>& paths,
                          const std::vector<std::string>& columns) {
  beside_ = runs_beside(rows, columns);
  if (paths != paths_) partings_.clear();
  paths_ = paths;
  // A run that still decodes has another text when it has more tokens.
  wanted_ = paths;
  for (const StudyRow& row : rows) wanted_.push_back(study_cell(row, "emitted_tokens", ""));
}

bool RunsSideBySide::update() {
  bool changed = false;
  if (task_ && task_->done()) {
    if (asked_ == wanted_) partings_ = task_->value();
    task_.reset();
    changed = true;
  }
  // Reading under way ends first, so that its thread is never waited for in a frame.
  if (wanted_ == asked_ || task_) return changed;
  asked_ = wanted_;
  task_ = std::make_unique<Later<TextPartings>>(
      [paths = paths_](std::stop_token stop) { return part_texts(paths, stop); });
  return true;
}

}  // namespace triescope::app

#include "app/window/workspace/runs_side_by_side.h"

namespace triescope::app {

bool RunsSideBySide::update(const std::vector<StudyRow>& rows,
                            const std::vector<std::string>& paths,
                            const std::vector<std::string>& columns) {
  bool changed = false;
  if (busy() && task_->done()) {
    is_taken_ = true;
    if (asked_ == wanted_) partings_ = task_->value();
    changed = true;
  }
  std::string shown;
  for (const StudyRow& row : rows)
    shown += row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const std::string& column : columns) shown += '\n' + column;
  if (shown != shown_) {
    shown_ = shown;
    beside_ = runs_beside(rows, columns);
    changed = true;
    if (paths != paths_) partings_.clear();
    paths_ = paths;
    // A run that still decodes has another text when it has more tokens.
    wanted_ = paths;
    for (const StudyRow& row : rows) wanted_.push_back(study_cell(row, "emitted_tokens", ""));
  }
  // Reading under way ends first, so that its thread is never waited for in a frame.
  if (wanted_ == asked_ || busy()) return changed;
  asked_ = wanted_;
  is_taken_ = false;
  task_ = std::make_unique<Later<TextPartings>>(
      [paths = paths_](std::stop_token stop) { return part_texts(paths, stop); });
  return true;
}

}  // namespace triescope::app

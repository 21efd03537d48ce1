// The sheets beside the table of runs: the chosen runs side by side, and where drafts were accepted.
#include <utility>

#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "app/window/workspace/runs_view.h"

namespace triescope::app {

const char* to_string(RunsSheet sheet) {
  switch (sheet) {
    case RunsSheet::kTable:
      return "table";
    case RunsSheet::kSideBySide:
      return "side by side";
    case RunsSheet::kAcceptance:
      break;
  }
  return "acceptance";
}

std::string RunsView::lacks(RunsSheet sheet) const {
  if (sheet == RunsSheet::kSideBySide && chosen_rows().size() < 2)
    return "Choose two runs of the table or more, with a click on each.";
  if (sheet == RunsSheet::kAcceptance && folder_.empty())
    return "Open a study: these are the runs open in the window, and each has a panel for it.";
  return "";
}

void RunsView::show_sheet(RunsSheet sheet) {
  sheet_ = sheet;
  update_sheets();
}

bool RunsView::busy() const {
  return (sheet_ == RunsSheet::kSideBySide && side_by_side_->busy()) ||
         (sheet_ == RunsSheet::kAcceptance && acceptance_->busy());
}

bool RunsView::update_sheets() {
  std::uint64_t& shown = shown_changes_[static_cast<std::size_t>(sheet_)];
  const bool is_new = std::exchange(shown, changes_) != changes_;
  if (sheet_ == RunsSheet::kAcceptance) {
    if (is_new) acceptance_->show(folder_, asked_runs_);
    return acceptance_->update() || is_new;
  }
  if (sheet_ != RunsSheet::kSideBySide) return false;
  if (is_new) {
    std::vector<StudyRow> rows;
    std::vector<std::string> paths;
    for (const std::size_t row : chosen_rows()) {
      rows.push_back(table_.rows[row]);
      paths.push_back(capture_of(table_.rows[row]));
    }
    if (rows.size() < 2) {  // the question left fewer
      sheet_ = RunsSheet::kTable;
      return true;
    }
    side_by_side_->show(rows, paths, columns.empty() ? known_ : table_.columns);
  }
  return side_by_side_->update() || is_new;
}

void RunsView::compare(Document* left, Document* right) {
  if (!left || !right) return;
  documents_.activate(left);
  comparison_.start(right);
  open_ = false;
}

std::vector<std::size_t> RunsView::chosen_rows() const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table_.rows.size(); ++i)
    if (!is_group(i) && is_chosen(i)) rows.push_back(i);
  return rows;
}

void RunsView::compare_chosen() {
  const std::vector<std::size_t> rows = chosen_rows();
  if (rows.size() < 2)
    return log_.say(LogLevel::kInfo, "two of the chosen runs must be in the table to be compared");
  if (rows.size() > 2) return show_sheet(RunsSheet::kSideBySide);
  Document* const left = open_capture(capture_of(table_.rows[rows[0]]));
  compare(left, open_capture(capture_of(table_.rows[rows[1]])));
}

void RunsView::compare_with_first(std::size_t column) {
  const std::vector<std::string> paths = side_by_side_->paths();
  if (column == 0 || column >= paths.size()) return;
  if (paths.front().empty() || paths[column].empty())
    return log_.say(LogLevel::kInfo, "one of these runs was recorded without a capture");
  Document* const left = open_capture(paths.front());
  Document* const right = open_capture(paths[column]);
  compare(left, right);
  if (left && right) comparison_.go_to_difference();
}

void RunsView::open_case(std::size_t behind) {
  const std::vector<WorstRun>& runs = acceptance_->behind();
  if (behind >= runs.size()) return;
  const WorstRun run = runs[behind];
  Document* const document = open_capture(capture_path(folder_, run.capture));
  if (!document) return;
  documents_.activate(document);
  if (run.step >= 0)
    documents_.set_cursor_of(*document, capture::make_tick(run.step + 1, capture::Phase::kDraft));
  open_ = false;
}

void RunsView::show_behind() {
  if (acceptance_->behind().empty()) return;
  only_.clear();
  for (const WorstRun& run : acceptance_->behind()) only_.insert(run.capture);
  only_words_ = acceptance_->choice_words();
  asked_.clear();
  group_by = "";
  show_sheet(RunsSheet::kTable);
}

void RunsView::show_all() {
  only_.clear();
  only_words_.clear();
  asked_.clear();
}

}  // namespace triescope::app

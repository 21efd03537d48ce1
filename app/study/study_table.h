// A study's table as it is printed: rows chosen by an expression, grouped, sorted, some of their
// columns; as text, CSV, JSON lines or LaTeX. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/study/study_store.h"

namespace triescope::app {

struct StudyTableOptions {
  std::string filter = {};  // an expression over the columns of folded rows; "" = all
  std::vector<std::string> group_by = {};  // columns; empty = no groups
  std::string sort = {};                   // a column; "-COLUMN" = the largest first; "" = as run
  std::vector<std::string> columns = {};   // empty = those that a format shows by itself
  std::set<std::string> captures = {};     // only runs with these captures; empty = all
};

struct StudyTable {
  std::vector<std::string> columns;  // those to show, in order
  std::vector<StudyRow> rows;
};

// `runs`: StudyStore::rows(). `whole`: without a choice of columns all are shown, else those that
// tell rows apart and the figures that people ask for. Errors: kInvalidArgument: an unknown column
// (with the nearest name); kCorruption, "column 7: …": the filter.
StudyTable study_table(const std::vector<StudyRow>& runs, const std::string& baseline,
                       const StudyTableOptions& options, bool whole);
// The same of folded_rows(), for callers that ask more than once of the same runs.
StudyTable table_of_folded(std::vector<StudyRow> rows, const StudyTableOptions& options,
                           bool whole);

// Which runs are meant: an expression over the columns of folded rows ("" = all), and the baseline of
// their speed-ups.
struct StudyFilter {
  std::string where = {}, baseline = {};
};

// The runs that a filter leaves.
class StudySelection {
 public:
  // Errors: those of the filter; kInvalidArgument: it leaves none.
  StudySelection(const std::vector<StudyRow>& runs, const StudyFilter& filter);
  // The same of folded_rows(); it may leave none.
  StudySelection(std::vector<StudyRow> folded, const std::string& where);
  bool has(const StudyRow& run) const;  // one of `runs`, whichever repeat it is

  std::vector<StudyRow> rows;  // folded

 private:
  std::set<std::string> keys_;
};

// A cell as people read it. If `between` is not empty, the half width of a figure's interval stands
// behind it, or both ends where repeats spread or an interval is not even: "2.31 ± 0.12",
// "58.2 [51.0, 60.3]".
std::string study_cell(const StudyRow& row, const std::string& column, const std::string& between);
// Whether the first cell of the column that is not empty is a number.
bool is_study_number(const StudyTable& table, const std::string& column);
// Columns as wide as their widest cell.
std::string study_text(const StudyTable& table);
std::string study_csv(const StudyTable& table);
std::string study_jsonl(const StudyTable& table);
// A tabular environment that needs no package, figures as $2.31 \pm 0.12$.
std::string study_latex(const StudyTable& table);

}  // namespace triescope::app

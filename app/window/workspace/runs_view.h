// RunsView: the table of runs that the window shows in the place of the panels: the runs of a study's
// folder, while it grows too, or those that are open in the window. The table itself is the study's
// (study_table.h); rows lead to captures. Two more sheets belong to it: the chosen runs side by side, and
// where a study's drafts were accepted. Window thread only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/study/study_table.h"
#include "app/window/workspace/comparison.h"

namespace triescope::app {

// Whether the path is the folder of a study.
bool is_study_folder(const std::string& path);

class RunsAcceptance;
class RunsSideBySide;

enum class RunsSheet : std::uint8_t { kTable, kSideBySide, kAcceptance };
inline constexpr int kRunsSheetCount = static_cast<int>(RunsSheet::kAcceptance) + 1;
const char* to_string(RunsSheet sheet);  // "table", "side by side", "acceptance"

class RunsView {
 public:
  RunsView(Documents& documents, Comparison& comparison, Messages& log);
  ~RunsView();

  bool is_open() const { return open_; }
  void close() { open_ = false; }
  // Errors: those of StudyStore.
  void show_study(const std::string& folder);
  void show_open_runs();
  const std::string& folder() const { return folder_; }  // "" = the runs open in the window

  RunsSheet sheet() const { return sheet_; }
  // A sentence on what a sheet lacks; "" = it can be shown.
  std::string lacks(RunsSheet sheet) const;
  // REQUIRES: lacks(sheet) is empty.
  void show_sheet(RunsSheet sheet);
  bool busy() const;  // a sheet is being counted

  // As typed; the columns of groups and those to show with commas between them.
  std::string filter = {}, group_by = {}, columns = {}, sort = {};
  void sort_by(const std::string& column);  // again: the other way round

  // Reads the runs and the question again where one has changed; a study's folder at most once a
  // second. True if the table is another.
  bool update(double seconds);
  double seconds_to_next_look(double seconds) const;  // negative = never
  const StudyTable& table() const { return table_; }
  // The fault of the question: "column 7: …"; the last table that could be made stays.
  const std::string& problem() const { return problem_; }
  std::size_t runs() const { return rows_.size(); }  // repeats and failed ones included
  std::size_t failed() const;
  // All names that filter, groups and columns can use.
  const std::vector<std::string>& known_columns() const { return known_; }

  bool is_chosen(std::size_t row) const;
  void choose(std::size_t row, bool chosen);
  std::size_t chosen() const { return chosen_.size(); }
  bool is_group(std::size_t row) const;
  // The run whose figures are all shown: the chosen one, or the only one; nullptr = none or several.
  const StudyRow* summary_row() const;
  // Opens the row's capture; of a group: shows its runs. Errors become problems.
  void open_row(std::size_t row);
  // Opens a row once the table has been drawn.
  void asks_to_open(std::size_t row) { asked_row_ = row; }
  void open_asked();
  // Two chosen rows: both runs side by side. More: their figures, on a sheet.
  void compare_chosen();
  bool can_compare() const { return chosen_.size() >= 2; }

  // --- the sheet side by side ---
  RunsSideBySide& side_by_side() { return *side_by_side_; }
  // The first chosen run and another one of the sheet, by its column, where their texts part; asked for
  // while the sheet is drawn.
  void asks_to_compare(std::size_t column) { asked_column_ = column; }

  // --- the sheet of acceptance ---
  RunsAcceptance& acceptance() { return *acceptance_; }
  // Opens a run behind the chosen bar where it refused first; asked for while the sheet is drawn.
  void asks_to_open_case(std::size_t behind) { asked_case_ = behind; }
  void open_case(std::size_t behind);
  // The table of those runs alone.
  void show_behind();
  const std::string& only_words() const { return only_words_; }  // which runs alone; "" = all
  void show_all();

  std::string& save_path() { return save_paths_[static_cast<std::size_t>(sheet_)]; }  // as typed
  // Writes the sheet that is shown, by the name's end: .csv, .jsonl, .tex, .txt; the bars as .csv, .svg,
  // .pdf, .png. Errors become problems.
  void save(const std::string& path);

 private:
  std::string capture_of(const StudyRow& row) const;  // its path; "" = none
  void show(const std::string& folder);
  StudyTableOptions options() const;
  std::string stamp() const;
  std::string question() const { return filter + '\n' + group_by + '\n' + columns + '\n' + sort; }
  void read_rows();
  void make_table();
  bool update_sheets();
  void write_sheet(const std::string& path);
  void compare_with_first(std::size_t column);
  std::vector<std::size_t> chosen_rows() const;  // of the table, in its order
  Document* open_capture(const std::string& path);
  void compare(Document* left, Document* right);

  Documents& documents_;
  Comparison& comparison_;
  Messages& log_;
  bool open_ = false;
  std::string folder_, baseline_, problem_,
      asked_;                            // asked_: the question of the table; "" = it is made again
  std::vector<StudyRow> rows_, folded_;  // folded_: a row for all repeats of a run
  std::vector<std::string> known_;
  StudyTable table_;
  std::set<std::string> chosen_;  // captures
  double read_at_ = -1;           // seconds
  std::optional<std::size_t> asked_row_, asked_column_, asked_case_;
  RunsSheet sheet_ = RunsSheet::kTable;
  std::array<std::string, kRunsSheetCount> save_paths_;  // another folder gets new proposals
  std::set<std::string> only_;                           // captures; empty = all
  std::string only_words_, title_;
  std::vector<StudyRow> asked_runs_;  // those that the filter leaves, repeats too
  std::uint64_t changes_ = 1;         // of the table and of the choice
  std::array<std::uint64_t, kRunsSheetCount> shown_changes_ = {};  // by sheet
  std::unique_ptr<RunsSideBySide> side_by_side_;
  std::unique_ptr<RunsAcceptance> acceptance_;
  std::string stamp_;             // stamp() when the rows were read
  std::uint64_t shown_with_ = 0;  // serial of the document that was shown then; 0 = none
};

}  // namespace triescope::app

// RunsView: the table of runs that the window shows in the place of the panels: the runs of a study's
// folder, while it grows too, or those that are open in the window. The table itself is the study's
// (study_table.h); rows lead to captures. Window thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/study/study_table.h"
#include "app/window/workspace/comparison.h"

namespace triescope::app {

// Whether the path is the folder of a study.
bool is_study_folder(const std::string& path);

class RunsView {
 public:
  RunsView(Documents& documents, Comparison& comparison, Messages& log)
      : documents_(documents), comparison_(comparison), log_(log) {}

  bool is_open() const { return open_; }
  void close() { open_ = false; }
  // Errors: those of StudyStore.
  void show_study(const std::string& folder);
  void show_open_runs();
  const std::string& folder() const { return folder_; }  // "" = the runs open in the window

  // As typed; the columns of groups and those to show with commas between them.
  std::string filter = {}, group_by = {}, columns = {}, sort = {};
  void sort_by(const std::string& column);  // again: the other way round

  // Reads the runs and the question again where one has changed; a study's folder at most once a
  // second. True if the table is another.
  bool update(double seconds);
  double seconds_to_next_look(double seconds) const;  // negative = never
  const StudyTable& table() const { return table_; }
  // What is wrong with the question: "column 7: …"; the last table that could be made stays.
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
  // The first two chosen rows side by side.
  void compare_chosen();
  bool can_compare() const { return chosen_.size() >= 2; }
  std::string save_path = {};  // as typed; another folder gets a new proposal
  // By the name's end: .csv, .jsonl, .tex, .txt. Errors become problems.
  void save(const std::string& path);

 private:
  std::string capture_of(const StudyRow& row) const;  // its path; "" = none
  void show(const std::string& folder);
  StudyTableOptions options() const;
  std::string stamp() const;
  std::string question() const { return filter + '\n' + group_by + '\n' + columns + '\n' + sort; }
  void read_rows();
  void make_table();
  Document* open_capture(const std::string& path);

  Documents& documents_;
  Comparison& comparison_;
  Messages& log_;
  bool open_ = false;
  std::string folder_, baseline_, problem_, asked_;  // asked_: the question of the table
  std::vector<StudyRow> rows_;
  std::vector<std::string> known_;
  StudyTable table_;
  std::set<std::string> chosen_;  // captures
  double read_at_ = -1;           // seconds
  std::optional<std::size_t> asked_row_;
  std::string stamp_;             // stamp() when the rows were read
  std::uint64_t shown_with_ = 0;  // serial of the document that was shown then; 0 = none
};

}  // namespace triescope::app

// The question that the fields above the table of runs ask, and the table as a file.
#include <filesystem>
#include <sstream>

#include "app/study/study_chart.h"
#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "app/window/workspace/runs_view.h"
#include "core/base/error.h"
#include "viz/export/export_picture.h"
#include "viz/export/file_ending.h"
#include "viz/export/whole_file.h"

namespace triescope::app {
namespace {

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    const auto first = name.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    names.push_back(name.substr(first, name.find_last_not_of(' ') + 1 - first));
  }
  return names;
}

}  // namespace

StudyTableOptions RunsView::options() const {
  return {.filter = filter,
          .group_by = listed(group_by),
          .sort = sort,
          .columns = listed(columns),
          .captures = only_};
}

void RunsView::save(const std::string& path) {
  try {
    write_sheet(path);
    log_.say(LogLevel::kInfo, std::string("saved the ") +
                                  (sheet_ == RunsSheet::kAcceptance ? "bars" : "table") + " in " +
                                  path);
  } catch (const Error& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

void RunsView::write_sheet(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (sheet_ == RunsSheet::kAcceptance) {
    if (acceptance_->busy())
      throw Error(ErrorCode::kInvalidArgument, "the bars are still being counted: save them later");
    viz::ExportOptions picture;
    picture.format = viz::format_of_path(path);
    const auto sheet = viz::make_acceptance_sheet(acceptance_->shown_by(), acceptance_->methods());
    const StudyProvenance made =
        study_provenance(folder_, asked_runs_, title_, sheet->info().title);
    return viz::export_picture(*sheet, made.facts, made.created, path, picture);
  }
  if (ending != ".csv" && ending != ".jsonl" && ending != ".tex" && ending != ".txt")
    throw Error(ErrorCode::kInvalidArgument,
                "the table is saved as .csv, .jsonl, .tex or .txt; found '" + path + "'");
  const bool whole = ending == ".csv" || ending == ".jsonl";
  const StudyTable table = sheet_ == RunsSheet::kSideBySide
                               ? beside_table(side_by_side_->beside(), side_by_side_->partings())
                               : table_of_folded(folded_, options(), whole);
  viz::write_whole(path, ending == ".csv"     ? study_csv(table)
                         : ending == ".jsonl" ? study_jsonl(table)
                         : ending == ".tex"   ? study_latex(table)
                                              : study_text(table));
}

}  // namespace triescope::app

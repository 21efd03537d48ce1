// The question that the fields above the table of runs ask, and the table as a file.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/window/workspace/runs_view.h"
#include "core/base/error.h"

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
  return {.filter = filter, .group_by = listed(group_by), .sort = sort, .columns = listed(columns)};
}

void RunsView::save(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  try {
    if (ending != ".csv" && ending != ".jsonl" && ending != ".tex" && ending != ".txt")
      throw Error(ErrorCode::kInvalidArgument,
                  "the table is saved as .csv, .jsonl, .tex or .txt; found '" + path + "'");
    const bool whole = ending == ".csv" || ending == ".jsonl";
    const StudyTable table = study_table(rows_, baseline_, options(), whole);
    std::ofstream file(path, std::ios::binary);
    file << (ending == ".csv"     ? study_csv(table)
             : ending == ".jsonl" ? study_jsonl(table)
             : ending == ".tex"   ? study_latex(table)
                                  : study_text(table));
    if (!file.flush()) throw Error(ErrorCode::kIoError, path + ": cannot be written");
    log_.say(LogLevel::kInfo, "saved the table in " + path);
  } catch (const Error& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

}  // namespace triescope::app

#include "app/window/workspace/runs_view.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "app/study/capture_row.h"
#include "app/study/study_figures.h"
#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

constexpr double kReadEverySeconds = 1;

std::string quoted(const nlohmann::json& cell) {
  if (!cell.is_string()) return dump_json(cell);
  const auto text = cell.get<std::string>();
  const char quote = text.find('"') == std::string::npos ? '"' : '\'';
  return quote + text + quote;
}

}  // namespace

bool is_study_folder(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) return false;
  try {
    StudyStore(path, /*writes=*/false);
  } catch (const Error& error) {
    return error.code() != ErrorCode::kNotFound;
  }
  return true;
}

RunsView::RunsView(Documents& documents, Comparison& comparison, Messages& log)
    : documents_(documents),
      comparison_(comparison),
      log_(log),
      side_by_side_(std::make_unique<RunsSideBySide>()),
      acceptance_(std::make_unique<RunsAcceptance>()) {}

RunsView::~RunsView() = default;

void RunsView::show(const std::string& folder) {
  if (folder != folder_) {
    filter = group_by = columns = sort = "";
    chosen_.clear();
    show_all();
    sheet_ = RunsSheet::kTable;
  }
  if (folder != folder_ || save_paths_.front().empty()) {
    const fs::path base(folder);
    save_paths_ = {folder.empty() ? "runs.csv" : (base / "table.csv").string(),
                   (base / "side_by_side.csv").string(), (base / "acceptance.svg").string()};
  }
  folder_ = folder;
  read_rows();
  open_ = true;
  shown_with_ = documents_.active() ? documents_.active()->serial : 0;
}

void RunsView::show_study(const std::string& folder) {
  StudyStore(folder, /*writes=*/false);  // refuses a folder without a study before anything changes
  show(folder);
}

void RunsView::show_open_runs() { show(""); }

void RunsView::read_rows() {
  stamp_ = stamp();  // before reading: what comes meanwhile is found later
  if (folder_.empty()) {
    rows_.clear();
    for (const auto& document : documents_.all())
      rows_.push_back(row_of_capture(*document->capture, document->path));
    baseline_ =
        std::ranges::any_of(rows_, [](const StudyRow& row) { return row.at("name") == "greedy"; })
            ? "greedy"
            : "";
  } else {
    StudyStore store(folder_, /*writes=*/false);
    rows_ = store.rows();
    baseline_ = store.fact("baseline");
    title_ = store.fact("title");
  }
  folded_ = folded_rows(rows_, baseline_);
  known_ = table_of_folded(folded_, {}, /*whole=*/true).columns;
  make_table();
}

// A text that changes where there may be more runs than were read.
std::string RunsView::stamp() const {
  std::ostringstream text;
  if (folder_.empty()) {
    for (const auto& document : documents_.all())
      text << document->serial << ":" << document->capture->end_tick() << " ";
    return text.str();
  }
  for (const char* name : {"study.sqlite", "study.sqlite-wal"}) {
    std::error_code ec;
    const fs::path file = fs::path(folder_) / name;
    text << fs::file_size(file, ec) << ":"
         << fs::last_write_time(file, ec).time_since_epoch().count() << " ";
  }
  return text.str();
}

void RunsView::make_table() {
  asked_ = question();
  ++changes_;
  try {
    table_ = table_of_folded(folded_, options(), /*whole=*/false);
    const StudySelection meant(folded_, filter);
    asked_runs_ = rows_;
    std::erase_if(asked_runs_, [&](const StudyRow& row) { return !meant.has(row); });
    problem_.clear();
  } catch (const Error& error) {
    problem_ = error.what();
  }
}

bool RunsView::update(double seconds) {
  if (!open_) return false;
  // Whoever opens a run wants to see it.
  if ((documents_.active() ? documents_.active()->serial : 0) != shown_with_) {
    open_ = false;
    return true;
  }
  bool changed = false;
  if (read_at_ < 0 || seconds - read_at_ >= kReadEverySeconds) {
    read_at_ = seconds;
    if (stamp() != stamp_) {
      changed = true;
      try {
        read_rows();
      } catch (const Error& error) {
        problem_ = error.what();  // the folder is gone
      }
    }
  }
  if (question() != asked_) {
    make_table();
    changed = true;
  }
  changed |= update_sheets();
  return changed;
}

double RunsView::seconds_to_next_look(double seconds) const {
  constexpr double kBusySeconds = 0.1;
  if (open_ && busy()) return kBusySeconds;
  if (!open_ || folder_.empty()) return -1;
  return std::max(0.0, read_at_ + kReadEverySeconds - seconds);
}

void RunsView::sort_by(const std::string& column) {
  sort = sort == "-" + column ? column : sort == column ? "" : "-" + column;
}

std::size_t RunsView::failed() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      rows_, [](const StudyRow& row) { return row.at("status") == "failed"; }));
}

std::string RunsView::capture_of(const StudyRow& row) const {
  const auto found = row.find("capture");
  if (found == row.end() || !found->is_string()) return "";
  const auto name = found->get<std::string>();
  return folder_.empty() || name.empty() ? name : capture_path(folder_, name);
}

bool RunsView::is_group(std::size_t row) const { return table_.rows[row].contains("runs"); }

const StudyRow* RunsView::summary_row() const {
  const StudyRow* one = nullptr;
  for (std::size_t i = 0; i < table_.rows.size(); ++i) {
    if (is_group(i) || (!is_chosen(i) && table_.rows.size() > 1)) continue;
    if (one) return nullptr;
    one = &table_.rows[i];
  }
  return one;
}

bool RunsView::is_chosen(std::size_t row) const {
  return chosen_.contains(capture_of(table_.rows[row]));
}

void RunsView::choose(std::size_t row, bool chosen) {
  const std::string capture = capture_of(table_.rows[row]);
  if (capture.empty()) return;
  if (chosen)
    chosen_.insert(capture);
  else
    chosen_.erase(capture);
  ++changes_;
}

Document* RunsView::open_capture(const std::string& path) {
  const auto of_path = [&](const auto& document) { return document->path == path; };
  auto found = std::ranges::find_if(documents_.all(), of_path);
  if (found == documents_.all().end()) {
    documents_.open(path);
    found = std::ranges::find_if(documents_.all(), of_path);
  }
  return found == documents_.all().end() ? nullptr : found->get();
}

void RunsView::open_row(std::size_t index) {
  const StudyRow row = table_.rows[index];
  if (is_group(index)) {
    // The runs of the group.
    for (const std::string& column : options().group_by) {
      if (!row.contains(column) || row.at(column).is_null()) continue;
      filter += (filter.empty() ? "" : " and ") + column + " = " + quoted(row.at(column));
    }
    group_by = "";
    return;
  }
  const std::string path = capture_of(row);
  if (path.empty()) return log_.say(LogLevel::kInfo, "this run was recorded without a capture");
  if (Document* const document = open_capture(path)) {
    documents_.activate(document);
    open_ = false;
  }
}

void RunsView::open_asked() {
  if (const auto row = std::exchange(asked_row_, std::nullopt); row && *row < table_.rows.size())
    open_row(*row);
  if (const auto one = std::exchange(asked_case_, std::nullopt)) open_case(*one);
  if (const auto column = std::exchange(asked_column_, std::nullopt)) compare_with_first(*column);
}

}  // namespace triescope::app

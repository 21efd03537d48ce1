#include "app/study/study_store.h"

#include <sqlite3.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/capture/sqlite_db.h"

namespace triescope::app {
namespace {

using capture::Database;
using capture::Statement;
using nlohmann::json;

constexpr int kStudyFormat = 1;
constexpr const char* kStudyTable = "study.sqlite";

// The columns that say which run it is, before its figures.
constexpr const char* kOwnColumns =
    "finished_at text, key text primary key, place integer not null, status text not null, "
    "message text, name text, model text, method text, draft text, category text, "
    "prompt integer, prompt_text text, seed integer, repeat integer, max_new_tokens integer, "
    "settings text, capture text, prompt_tokens integer, accepted_drafts integer, "
    "accepted_per_step real, accepted_by_depth text, accepted_histogram text, result text";

std::string table_sql() {
  std::string sql = std::string("create table if not exists run (") + kOwnColumns;
  for (const StudyMetric& metric : study_metrics()) sql += std::string(", ") + metric.name;
  return sql + "); create table if not exists fact (name text primary key, value text)";
}

void bind_value(Statement& statement, const json& value) {
  if (value.is_boolean())
    statement.bind(std::int64_t{value.get<bool>()});
  else if (value.is_number_integer())
    statement.bind(value.get<std::int64_t>());
  else if (value.is_number())
    statement.bind(value.get<double>());
  else if (value.is_string())
    statement.bind(std::string_view(value.get_ref<const std::string&>()));
  else if (value.is_null())
    statement.bind_null();
  else
    statement.bind(std::string_view(dump_json(value)));
}

json value_of(const Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.number(column);
    case SQLITE_NULL:
      return nullptr;
    default:
      return row.text(column);
  }
}

json value_at(const json& result, const char* pointer) {
  const json::json_pointer place(pointer);
  return result.contains(place) ? result.at(place) : json(nullptr);
}

}  // namespace

bool has_tree(const StudyRow& row) { return row.at("accepted_by_depth").is_array(); }

std::string capture_path(const std::string& folder, const std::string& capture) {
  return (std::filesystem::path(folder) / "captures" / capture).string();
}

struct StudyStore::Impl {
  Database db;
  explicit Impl(const std::string& path, int flags) : db(path, flags, "", "a study's table") {}

  // Adds the figures that a table of an older program lacks.
  void add_missing_columns() {
    for (const StudyMetric& metric : study_metrics()) {
      Statement query(db, "select 1 from pragma_table_info('run') where name=?");
      query.bind(std::string_view(metric.name));
      bool is_there = false;
      while (query.next()) is_there = true;
      if (!is_there) db.execute((std::string("alter table run add column ") + metric.name).c_str());
    }
  }

  // `figures`: by column, those that are not of study_metrics().
  void write(const StudyRun& run, std::int64_t place, const json& figures, const json& result) {
    const RunRequest& request = run.request;
    const auto figure = [&](const char* name) {
      return figures.contains(name) ? figures.at(name) : json(nullptr);
    };
    const std::pair<const char*, json> values[] = {
        {"key", run.key},
        {"place", place},
        {"status", figure("status")},
        {"message", figure("message")},
        {"name", run.name},
        {"model", figure("model")},
        {"method", request.method},
        {"draft", figure("draft")},
        {"category", run.category},
        {"prompt", run.number},
        {"prompt_text", request.prompt},
        {"seed", static_cast<std::int64_t>(request.seed)},
        {"repeat", run.repeat},
        {"max_new_tokens", request.max_new_tokens},
        {"settings", figure("settings")},
        {"capture", figure("capture")},
        {"prompt_tokens", figure("prompt_tokens")},
        {"accepted_drafts", figure("accepted_drafts")},
        {"accepted_per_step", figure("accepted_per_step")},
        {"accepted_by_depth", figure("accepted_by_depth")},
        {"accepted_histogram", figure("accepted_histogram")},
        {"result", result}};
    std::string names = "finished_at", marks = "strftime('%Y-%m-%dT%H:%M:%SZ','now')";
    for (const auto& [name, value] : values) names += std::string(",") + name, marks += ",?";
    for (const StudyMetric& metric : study_metrics())
      names += std::string(",") + metric.name, marks += ",?";
    Statement insert(db,
                     ("insert or replace into run (" + names + ") values (" + marks + ")").c_str());
    for (const auto& [name, value] : values) bind_value(insert, value);
    for (const StudyMetric& metric : study_metrics())
      bind_value(insert, value_at(result, metric.pointer));
    insert.run();
  }
};

StudyStore::StudyStore(const std::string& folder, bool writes) {
  namespace fs = std::filesystem;
  const std::string path = (fs::path(folder) / kStudyTable).string();
  std::error_code ec;
  if (!writes && !fs::exists(path, ec))
    throw Error(ErrorCode::kNotFound,
                path +
                    ": no such file; expected the folder of a study, which `triescope study "
                    "FILE.toml` makes");
  impl_ = std::make_unique<Impl>(
      path, writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  if (const auto format = impl_->db.pragma("pragma user_version"); format > kStudyFormat)
    throw Error(ErrorCode::kNotSupported, path + ": a newer triescope wrote it (format " +
                                              std::to_string(format) + "); this one reads format " +
                                              std::to_string(kStudyFormat));
  if (!writes) return;
  impl_->db.execute("pragma journal_mode=wal");
  impl_->db.execute(table_sql().c_str());
  impl_->add_missing_columns();
  impl_->db.execute(("pragma user_version=" + std::to_string(kStudyFormat)).c_str());
}

StudyStore::~StudyStore() = default;

bool StudyStore::is_done(const std::string& key) {
  Statement query(impl_->db, "select 1 from run where key=? and status='done'");
  query.bind(std::string_view(key));
  bool found = false;
  while (query.next()) found = true;
  return found;
}

void StudyStore::put(const StudyRun& run, std::int64_t place, const json& result,
                     const json& depths, bool has_capture, const std::string& note) {
  std::int64_t accepted = 0;
  const json& histogram = result.at("accepted_histogram");
  for (std::size_t k = 0; k < histogram.size(); ++k)
    accepted += static_cast<std::int64_t>(k) * histogram[k].get<std::int64_t>();
  const auto steps = result.at("steps").get<std::int64_t>() - 1;  // after prefill
  namespace fs = std::filesystem;
  json figures = {
      {"status", "done"},
      {"message", note.empty() ? json(nullptr) : json(note)},
      {"model",
       fs::path(result.at("/model/path"_json_pointer).get<std::string>()).filename().string()},
      {"settings", result.at("settings")},
      {"prompt_tokens", result.at("prompt_tokens").size()},
      {"accepted_drafts", accepted},
      {"accepted_by_depth", depths},
      {"accepted_histogram", histogram}};
  if (const json draft = value_at(result, "/draft/path"); draft.is_string())
    figures["draft"] = fs::path(draft.get<std::string>()).filename().string();
  if (has_capture) figures["capture"] = run.capture;
  if (steps > 0)
    figures["accepted_per_step"] = static_cast<double>(accepted) / static_cast<double>(steps);
  impl_->write(run, place, figures, result);
}

void StudyStore::put_failure(const StudyRun& run, std::int64_t place, const std::string& why) {
  impl_->write(run, place,
               {{"status", "failed"},
                {"message", why},
                {"model", run.request.model},
                {"settings", run.request.settings}},
               nullptr);
}

void StudyStore::set_fact(const std::string& name, const std::string& value) {
  Statement insert(impl_->db, "insert or replace into fact values (?, ?)");
  insert.bind(std::string_view(name)).bind(std::string_view(value)).run();
}

std::string StudyStore::fact(const std::string& name) {
  Statement query(impl_->db, "select value from fact where name=?");
  query.bind(std::string_view(name));
  std::string value;
  while (query.next()) value = query.text(0);
  return value;
}

std::vector<StudyRow> StudyStore::rows() {
  std::vector<std::string> names;
  {
    Statement columns(impl_->db,
                      "select name from pragma_table_info('run') where name != 'result'");
    while (columns.next()) names.push_back(columns.text(0));
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  Statement query(impl_->db, ("select " + list + " from run order by place, rowid").c_str());
  std::vector<StudyRow> rows;
  while (query.next()) {
    StudyRow row = StudyRow::object();
    for (std::size_t i = 0; i < names.size(); ++i)
      row[names[i]] = value_of(query, static_cast<int>(i));
    for (const char* name : {"settings", "accepted_by_depth", "accepted_histogram"})
      if (row[name].is_string()) row[name] = json::parse(row[name].get<std::string>());
    if (row["lossless"].is_number()) row["lossless"] = row["lossless"] != 0;
    if (row["settings"].is_object()) row.update(row["settings"]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace triescope::app

#include "core/capture/row_writer.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/capture/recorder_identity.h"
#include "core/capture/row_types.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

template <class Number>
std::string json_list(const std::vector<Number>& values) {
  std::string text = "[";
  for (const Number value : values) {
    char digits[32];
    text += text.size() > 1 ? "," : "";
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  return text + "]";
}

// Writes {0, 15, 18, 18} as "0-15,18".
std::string runs_text(std::span<const std::int32_t> runs) {
  std::string text;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
    text += (text.empty() ? "" : ",") + std::to_string(runs[i]);
    if (runs[i + 1] != runs[i]) text += "-" + std::to_string(runs[i + 1]);
  }
  return text;
}

template <class ColumnOfRow, class Value>
void bind_value(Statement& statement, const ColumnOfRow& column, const Value& value) {
  const Rule rule = column.rule;
  if constexpr (std::is_floating_point_v<Value>) {
    statement.bind(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    if (rule == Rule::kCode)
      statement.bind_constant(column.names()[static_cast<std::size_t>(value)]);
    else
      statement.bind(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (rule == Rule::kBytes) {
      statement.bind_blob(std::as_bytes(std::span(value)));
    } else {
      statement.bind(std::string_view(value));
    }
  } else if constexpr (std::is_same_v<Value, std::vector<float>>) {
    statement.bind(std::string_view(json_list(value)));
  } else {
    statement.bind(std::string_view(rule == Rule::kRuns ? runs_text(value) : json_list(value)));
  }
}

template <class Row>
void bind_row(Statement& statement, const Row& row) {
  for_each_column<Row>(
      [&](const auto& column) { bind_value(statement, column, row.*column.member); });
}

// ",?" for each column.
template <class Row>
std::string places() {
  std::string text;
  for_each_column<Row>([&](const auto&) { text += ",?"; });
  return text;
}

template <class Row>
struct Insert {
  Statement statement;
  explicit Insert(Database& db)
      : statement(db, ("INSERT INTO " + std::string(RowType<Row>::kTable) + " VALUES (NULL" +
                       places<Row>() + ")")
                          .c_str()) {}
};

// An Insert for every vector of RowTables.
template <class Members>
struct Inserts;
template <class... Members>
struct Inserts<const std::tuple<Members...>> : Insert<RowOf<Members>>... {
  explicit Inserts(Database& db) : Insert<RowOf<Members>>(db)... {}
};

}  // namespace

struct RowWriter::Statements {
  explicit Statements(Database& db)
      : rows(db),
        run(db,
            ("INSERT OR REPLACE INTO run VALUES (1" + places<RunInfo>() + places<RunState>() + ")")
                .c_str()),
        finish(db, "UPDATE run SET status=?, message=? WHERE id=1") {}
  Inserts<decltype(kRowTables)> rows;
  Statement run, finish;
};

RowWriter::RowWriter(Database& db) : db_(db), statements_(std::make_unique<Statements>(db)) {}
RowWriter::~RowWriter() = default;

void RowWriter::write(const RowTables& rows) {
  Statements& s = *statements_;
  db_.execute("BEGIN");
  try {
    if (rows.run) {
      bind_row(s.run, *rows.run);
      bind_row(
          s.run,
          RunState{.status = RunStatus::kRunning, .message = {}, .recorder = recorder_identity()});
      s.run.run();
    }
    for_each_table([&](const auto member) {
      using Row = RowOf<decltype(member)>;
      Statement& insert = static_cast<Insert<Row>&>(s.rows).statement;
      for (const Row& row : rows.*member) {
        bind_row(insert, row);
        insert.run();
      }
    });
    if (rows.finish) {
      const auto status = static_cast<std::size_t>(rows.finish->status);
      s.finish.bind_constant(code_names<RunStatus>()[status])
          .bind(std::string_view(rows.finish->message))
          .run();
    }
    db_.execute("COMMIT");
  } catch (...) {
    sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace triescope::capture

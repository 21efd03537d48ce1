#include "core/capture/capture_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// The names of a row type's columns in files of this schema, comma-separated.
template <class Row>
std::string names_of(int schema) {
  std::string names;
  for_each_column<Row>(schema, [&](const auto& column) {
    names += (names.empty() ? "" : ", ") + std::string(column.name);
  });
  return names;
}

template <class Value>
constexpr bool is_integer = std::is_integral_v<Value> || std::is_enum_v<Value>;

}  // namespace

void CaptureRows::damaged(const char* table, std::int64_t row, const std::string& what) const {
  throw Error(ErrorCode::kCorruption,
              path + ": damaged: table " + table + ", row " + std::to_string(row) + ": " + what);
}

void CaptureRows::check_range(const char* table, std::int64_t row, const char* column,
                              std::int64_t value, std::int64_t low, std::int64_t high) const {
  if (value < low || value > high)
    damaged(table, row,
            std::string(column) + ": expected " + std::to_string(low) + " to " +
                std::to_string(high) + ", found " + std::to_string(value));
}

// Not whether it is JSON: its readers see to that.
void CaptureRows::check_json(const char* table, std::int64_t row, const char* column,
                             const std::string& text) const {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{') && ++depth > kMaxDepth)
      damaged(table, row,
              std::string(column) + ": expected JSON nested at most " + std::to_string(kMaxDepth) +
                  " deep");
    if (!quoted && (c == ']' || c == '}')) --depth;
  }
}

std::vector<std::int32_t> CaptureRows::tokens_of(const char* table, std::int64_t row,
                                                 const char* column,
                                                 std::span<const std::byte> blob) const {
  if (blob.size() % sizeof(std::int32_t) != 0)
    damaged(table, row,
            std::string(column) + ": expected 4 bytes each, found " + std::to_string(blob.size()) +
                " bytes");
  std::vector<std::int32_t> tokens(blob.size() / sizeof(std::int32_t));
  if (!tokens.empty()) std::memcpy(tokens.data(), blob.data(), blob.size());
  for (const std::int32_t token : tokens) check_range(table, row, column, token, 0, kMaxToken);
  return tokens;
}

// Column `place` of the statement's row. Integers under kAny keep their 64 bits or are truth
// values.
template <class Value>
Value CaptureRows::value_of(Statement& statement, int place, const char* table, std::int64_t row,
                            const char* column, Rule rule, std::int64_t low,
                            std::int64_t high) const {
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(statement.number(place));
  } else if constexpr (is_integer<Value>) {
    const std::int64_t value = statement.integer(place);
    if (rule == Rule::kTick) check_range(table, row, column, value, 0, kMaxTick);
    if (rule == Rule::kRange) check_range(table, row, column, value, low, high);
    return static_cast<Value>(value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (rule == Rule::kBytes) {
      const auto blob = statement.blob(place);
      return std::string(reinterpret_cast<const char*>(blob.data()), blob.size());
    }
    std::string text = statement.text(place);
    if (rule == Rule::kJson) check_json(table, row, column, text);
    return text;
  } else {
    return tokens_of(table, row, column, statement.blob(place));
  }
}

template <class Row, class ColumnOfRow>
void CaptureRows::check_relation(const Row& row, const ColumnOfRow& column, std::int64_t id,
                                 std::int64_t value) const {
  const char* const table = RowType<Row>::kTable;
  const auto next_node = static_cast<std::int64_t>(nodes.size());
  const auto in_range = [&](std::int64_t low, std::int64_t high) {
    check_range(table, id, column.name, value, low, high);
  };
  // The row above's value in this column, by the owner.
  constexpr bool is_member_of_tables = requires { RowType<Row>::kLevel; };
  const Row* above = nullptr;
  if constexpr (is_member_of_tables) {
    for_each_table([&](const auto member) {
      if constexpr (std::is_same_v<RowOf<decltype(member)>, Row>) {
        const std::vector<Row>& rows = of(whose_of(row)).*member;
        if (!rows.empty()) above = &rows.back();
      }
    });
  }
  const auto value_above = [&] { return static_cast<std::int64_t>(above->*column.member); };
  switch (column.rule) {
    case Rule::kLaterTick:
      in_range(0, kMaxTick);
      if (above && value < value_above())
        damaged(table, id,
                std::string(column.name) + ": expected " + std::to_string(value_above()) +
                    " or later, found " + std::to_string(value));
      break;
    case Rule::kNewTick:
      in_range(0, kMaxTick);
      if (above && value <= value_above())
        damaged(table, id,
                std::string(column.name) + ": expected later than " +
                    std::to_string(value_above()) + ", found " + std::to_string(value));
      break;
    case Rule::kLaterStep:
      in_range(above ? value_above() : 0, kMaxStep);
      break;
    case Rule::kNewStep:
      in_range(above ? value_above() + 1 : 0, kMaxStep);
      break;
    case Rule::kForward:
      if constexpr (requires { row.step; })
        in_range(above && above->step == row.step ? value_above() : 0, kMaxStep);
      break;
    case Rule::kNextNode:
      in_range(next_node, next_node);
      break;
    case Rule::kParent:
      in_range(next_node == 0 ? -1 : 0, next_node - 1);
      break;
    case Rule::kDepth:
      if constexpr (requires { row.parent; }) {
        const std::int64_t depth = row.parent < 0 ? 0 : nodes[at(row.parent)].depth + 1;
        in_range(depth, depth);
      }
      break;
    case Rule::kNode:
      in_range(0, next_node - 1);
      break;
    case Rule::kNodeIfTree:
      if (next_node > 0) in_range(0, next_node - 1);
      break;
    case Rule::kOccupant:
      in_range(-1 - static_cast<std::int64_t>(info.prompt_tokens.size()), next_node - 1);
      break;
    default:
      break;
  }
}

// The row whose columns begin at column `first` of the statement's row.
template <class Row>
Row CaptureRows::read_row(Statement& statement, int first, std::int64_t id) const {
  Row row;
  int column_at = first;
  for_each_column<Row>(schema, [&](const auto& column) {
    const int here = column_at++;
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    if (is_relation(column.rule)) return;
    row.*column.member = value_of<Value>(statement, here, RowType<Row>::kTable, id, column.name,
                                         column.rule, column.low, column.high);
  });
  column_at = first;
  for_each_column<Row>(schema, [&](const auto& column) {
    const int here = column_at++;
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    if constexpr (is_integer<Value>) {
      if (!is_relation(column.rule)) return;
      std::int64_t value = statement.integer(here);
      check_relation(row, column, id, value);
      // A capture of the lowest level has sequences and no tree.
      if (column.rule == Rule::kNodeIfTree && nodes.empty()) value = -1;
      row.*column.member = static_cast<Value>(value);
    }
  });
  return row;
}

template <class Row>
bool CaptureRows::read_table(Database& db, std::vector<Row> RowTables::*member,
                             std::int64_t& last_row) {
  const std::string sql = "SELECT id, " + names_of<Row>(schema) + " FROM " + RowType<Row>::kTable +
                          " WHERE id > ? ORDER BY id";
  Statement statement(db, sql.c_str());
  statement.bind(last_row);
  bool any = false;
  while (statement.next()) {
    // A page that several others point to would give its rows over and over.
    const std::int64_t id = statement.integer(0);
    if (id <= last_row)
      throw Error(ErrorCode::kCorruption, path + ": damaged: table " + RowType<Row>::kTable +
                                              ": row " + std::to_string(id) + " comes after row " +
                                              std::to_string(last_row));
    last_row = id;
    Row row = read_row<Row>(statement, 1, id);
    index(row);
    if constexpr (!std::is_same_v<Row, PieceRow>)  // those are in piece_of
      (of(whose_of(row)).*member).push_back(std::move(row));
    any = true;
  }
  return any;
}

void CaptureRows::index(const PieceRow& row) { piece_of.try_emplace(row.token, row.bytes); }

void CaptureRows::index(const NodeRow&) {
  newest_verdict.push_back(-1);
  newest_score.push_back(-1);
}

void CaptureRows::index(const NodeScoreRow& row) {
  earlier_score.push_back(
      std::exchange(newest_score[at(row.node)], static_cast<std::int32_t>(node_scores.size())));
}

void CaptureRows::index(const VerdictRow& row) {
  earlier_verdict.push_back(
      std::exchange(newest_verdict[at(row.node)], static_cast<std::int32_t>(verdicts.size())));
}

void CaptureRows::index(const InputRow& row) {
  auto& forwards = of(row.whose).forwards;
  if (const ForwardId id{row.step, row.forward}; forwards.empty() || forwards.back() != id)
    forwards.push_back(id);
}

void CaptureRows::index(const CandidateRow& row) {
  OwnerRows& owner = of(row.whose);
  owner.newest_candidates.resize(nodes.size(), -1);
  const auto here = static_cast<std::int32_t>(owner.candidates.size());
  std::int32_t& newest = owner.newest_candidates[at(row.node)];
  if (newest >= 0) {
    OwnerRows::CandidateGroup& group = owner.candidate_groups[at(newest)];
    if (group.tick == row.tick && group.first + group.count == here) {
      ++group.count;
      return;
    }
  }
  owner.candidate_groups.push_back({here, 1, newest, row.tick});
  newest = static_cast<std::int32_t>(owner.candidate_groups.size()) - 1;
}

void CaptureRows::index(const SlotRow& row) { of(row.whose).slot_history.take(row); }

bool CaptureRows::read_run(Database& db) {
  // Once known, only its end is asked for again: texts may be long.
  const std::string columns =
      names_of<RunState>(schema) + (has_run_ ? "" : ", " + names_of<RunInfo>(schema));
  Statement statement(db, ("SELECT " + columns + " FROM run WHERE id=1").c_str());
  bool changed = false;
  while (statement.next()) {
    if (!has_run_) {
      RunInfo read = read_row<RunInfo>(
          statement, static_cast<int>(std::tuple_size_v<decltype(RowType<RunState>::kColumns)>), 1);
      if (!read.method.empty()) {  // a recorder makes the row before it knows the run
        info = std::move(read);
        has_run_ = changed = true;
      }
    }
    RunState now = read_row<RunState>(statement, 0, 1);
    if (now.status == RunStatus::kRunning && !recorder_lives(now.recorder, path)) {
      now.status = RunStatus::kStopped;
      now.message = "interrupted: the program that recorded it ended before the run did";
    }
    changed |= now.status != state.status;
    state = std::move(now);
  }
  return changed;
}

bool CaptureRows::read_tables(Database& db) {
  bool any = false;
  std::size_t table = 0;
  for_each_table([&](const auto member) {
    std::int64_t& last_row = last_row_[table++];
    if (has_table<RowOf<decltype(member)>>(schema)) any |= read_table(db, member, last_row);
  });
  return any;
}

void CaptureRows::read_bookmarks(Database& db) {
  bookmarks.clear();
  // Read in order of the id, which is checked; sorted here, because SQLite's sorter would gather
  // the rows of a page that is pointed to a million times before it gave out the first.
  Statement statement(
      db, ("SELECT id, " + names_of<Bookmark>(schema) + " FROM bookmark ORDER BY id").c_str());
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  while (statement.next()) {
    const std::int64_t id = statement.integer(0);
    if (!bookmarks.empty() && id <= last)
      damaged("bookmark", id, "expected a row after " + std::to_string(last));
    last = id;
    Bookmark bookmark = read_row<Bookmark>(statement, 1, id);
    bookmark.id = id;
    bookmark.tick = std::max<Tick>(0, bookmark.tick);
    bookmarks.push_back(std::move(bookmark));
  }
  std::stable_sort(bookmarks.begin(), bookmarks.end(),
                   [](const Bookmark& a, const Bookmark& b) { return a.tick < b.tick; });
}

}  // namespace triescope::capture

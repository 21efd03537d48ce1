#include "core/capture/capture_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// A row type's columns for a query, with "NULL" in place of those that the file lacks.
template <class Row>
std::string query_of(const std::set<std::string>& there) {
  std::string names;
  for_each_column<Row>([&](const auto& column) {
    names += (names.empty() ? "" : ", ") +
             (there.contains(column.name) ? std::string(column.name) : std::string("NULL"));
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

// Checks the nesting alone; whoever reads the text checks that it is JSON.
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

// An empty text is an empty list.
template <class Read>
void CaptureRows::each_of_list(const char* table, std::int64_t row, const char* column,
                               std::string_view text, const char* expected, Read read) const {
  const auto refuse = [&] {
    damaged(table, row,
            std::string(column) + ": expected " + expected + ", found '" +
                std::string(text.substr(0, 40)) + "'");
  };
  const auto skip_blanks = [&](std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
    return at;
  };
  std::size_t at = skip_blanks(0);
  if (at == text.size()) return;
  if (text[at] != '[') refuse();
  at = skip_blanks(at + 1);
  for (bool ended = at < text.size() && text[at] == ']'; !ended;) {
    const char* const end = read(text.data() + at, text.data() + text.size());
    if (end == nullptr) refuse();
    at = skip_blanks(static_cast<std::size_t>(end - text.data()));
    if (at == text.size() || (text[at] != ',' && text[at] != ']')) refuse();
    ended = text[at] == ']';
    if (!ended) at = skip_blanks(at + 1);
  }
  if (skip_blanks(at + 1) < text.size()) refuse();
}

// Parses "[1, 2, 3]".
std::vector<std::int32_t> CaptureRows::tokens_of(const char* table, std::int64_t row,
                                                 const char* column, std::string_view text) const {
  std::vector<std::int32_t> tokens;
  each_of_list(table, row, column, text, "token ids as [1, 2, 3]",
               [&](const char* from, const char* to) -> const char* {
                 std::int64_t token = -1;
                 const auto [end, error] = std::from_chars(from, to, token);
                 if (error != std::errc()) return nullptr;
                 check_range(table, row, column, token, 0, kMaxToken);
                 tokens.push_back(static_cast<std::int32_t>(token));
                 return end;
               });
  return tokens;
}

// Parses "[0.5, 0.25]".
std::vector<float> CaptureRows::numbers_of(const char* table, std::int64_t row, const char* column,
                                           std::string_view text) const {
  std::vector<float> numbers;
  each_of_list(table, row, column, text, "finite numbers as [0.5, 0.25]",
               [&](const char* from, const char* to) -> const char* {
                 float number = 0;
                 const auto [end, error] = std::from_chars(from, to, number);
                 if (error != std::errc() || !std::isfinite(number)) return nullptr;
                 numbers.push_back(number);
                 return end;
               });
  return numbers;
}

// Parses "0-15,18" to {0, 15, 18, 18}.
std::vector<std::int32_t> CaptureRows::runs_of(const char* table, std::int64_t row,
                                               const char* column, std::string_view text) const {
  std::vector<std::int32_t> runs;
  const char* at = text.data();
  const char* const last = at + text.size();
  while (at != last) {
    const std::int32_t least = runs.empty() ? 0 : runs.back() + 1;
    for (int end = 0; end < 2; ++end) {
      std::int32_t slot = end == 0 ? -1 : runs.back();
      const bool is_told = end == 0 || (at != last && *at == '-');
      if (end == 1 && is_told) ++at;
      if (is_told) {
        const auto [next, error] = std::from_chars(at, last, slot);
        if (error != std::errc() || slot < (end == 0 ? least : runs.back()) || slot > kMaxSlot)
          damaged(table, row,
                  std::string(column) + ": expected ascending slots as 0-15,18, found '" +
                      std::string(text.substr(0, 40)) + "'");
        at = next;
      }
      runs.push_back(slot);
    }
    if (at != last && (*at++ != ',' || at == last))
      damaged(table, row,
              std::string(column) + ": expected ascending slots as 0-15,18, found '" +
                  std::string(text.substr(0, 40)) + "'");
  }
  return runs;
}

std::int64_t CaptureRows::code_of(const char* table, std::int64_t row, const char* column,
                                  std::string_view name, Names names) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    std::string list;
    for (const char* const known : names) list += (list.empty() ? "" : ", ") + std::string(known);
    damaged(table, row,
            std::string(column) + ": expected one of " + list + "; found '" +
                std::string(name.substr(0, 40)) + "'");
  }
  return found - names.begin();
}

// Reads column `place` of the statement's row. Integers under kAny keep their 64 bits, or are truth
// values.
template <class Value, class ColumnOfRow>
Value CaptureRows::value_of(Statement& statement, int place, const char* table, std::int64_t row,
                            const ColumnOfRow& column) const {
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(statement.number(place));
  } else if constexpr (is_integer<Value>) {
    if (column.rule == Rule::kCode)
      return static_cast<Value>(
          code_of(table, row, column.name, statement.text_view(place), column.names()));
    const std::int64_t value = statement.integer(place);
    if (column.rule == Rule::kTick) check_range(table, row, column.name, value, 0, kMaxTick);
    if (column.rule == Rule::kRange)
      check_range(table, row, column.name, value, column.low, column.high);
    return static_cast<Value>(value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (column.rule == Rule::kBytes) {
      const auto blob = statement.blob(place);
      return std::string(reinterpret_cast<const char*>(blob.data()), blob.size());
    }
    std::string text = statement.text(place);
    if (column.rule == Rule::kJson) check_json(table, row, column.name, text);
    return text;
  } else if constexpr (std::is_same_v<Value, std::vector<float>>) {
    return numbers_of(table, row, column.name, statement.text_view(place));
  } else if (column.rule == Rule::kRuns) {
    return runs_of(table, row, column.name, statement.text_view(place));
  } else {
    return tokens_of(table, row, column.name, statement.text_view(place));
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
  // The same owner's previous value in this column.
  constexpr bool is_member_of_tables = requires { RowType<Row>::kLevel; };
  const Row* above = nullptr;
  std::int64_t next_row = 0;
  if constexpr (is_member_of_tables) {
    for_each_table([&](const auto member) {
      if constexpr (std::is_same_v<RowOf<decltype(member)>, Row>) {
        const std::vector<Row>& rows = of(whose_of(row)).*member;
        if (!rows.empty()) above = &rows.back();
        next_row = static_cast<std::int64_t>(rows.size());
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
    case Rule::kNaive:
      in_range(0, kMaxStep);
      break;
    case Rule::kNextRow:
      in_range(next_row, next_row);
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
    case Rule::kNodeOrNone:
      in_range(-1, next_node - 1);
      break;
    case Rule::kDrafter:
      in_range(-1, static_cast<std::int64_t>(drafters.size()) - 1);
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

// The value that NULL stands for in a column that depends on others.
template <class Row>
std::int64_t CaptureRows::implied(const Row& row, Rule rule) const {
  if (rule == Rule::kNextRow) {
    if constexpr (std::is_same_v<Row, DrafterRow>)
      return static_cast<std::int64_t>(drafters.size());
    else
      return static_cast<std::int64_t>(nodes.size());
  }
  if constexpr (requires { row.naive_position; })
    if (rule == Rule::kNaive) return row.position;
  if constexpr (requires { row.parent; })
    if (rule == Rule::kDepth && row.parent >= 0) return nodes[at(row.parent)].depth + 1;
  const bool none =
      rule == Rule::kDrafter || rule == Rule::kNodeIfTree || rule == Rule::kNodeOrNone;
  return none ? -1 : 0;
}

// Reads the row whose columns begin at column `first` of the statement's row.
template <class Row>
Row CaptureRows::read_row(Statement& statement, int first, std::int64_t id) const {
  const char* const table = RowType<Row>::kTable;
  Row row;
  std::string foreign_reason;
  int column_at = first;
  for_each_column<Row>([&](const auto& column) {
    const int here = column_at++;
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    const bool null = statement.is_null(here);
    if (null && column.is_needed)
      damaged(table, id, std::string(column.name) + ": expected a value, found NULL");
    if (is_relation(column.rule)) return;
    if (null && column.rule != Rule::kUnknown) return;
    if constexpr (std::is_same_v<Value, Reason>)
      if (!code_from_name<Reason>(statement.text_view(here))) {
        foreign_reason = statement.text(here);
        return;
      }
    row.*column.member = value_of<Value>(statement, here, table, id, column);
  });
  // A reason of another program, or of a newer one, is told as it stands.
  if constexpr (requires { row.why; })
    if (row.why.empty()) row.why = std::move(foreign_reason);
  if constexpr (requires { row.weights; })
    if (!row.weights.empty() && row.weights.size() != row.experts.size())
      damaged(table, id,
              "weights: expected " + std::to_string(row.experts.size()) +
                  ", one for each expert, found " + std::to_string(row.weights.size()));
  column_at = first;
  for_each_column<Row>([&](const auto& column) {
    const int here = column_at++;
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    if constexpr (is_integer<Value>) {
      if (!is_relation(column.rule)) return;
      std::int64_t value =
          statement.is_null(here) ? implied(row, column.rule) : statement.integer(here);
      if (!(column.rule == Rule::kNodeIfTree && value == -1 && statement.is_null(here)))
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
  const std::string table = RowType<Row>::kTable;
  const auto there = file_tables.find(table);
  if (there == file_tables.end()) return false;
  // The file's own indices are not used: they need not agree with the table.
  const std::string sql = "SELECT rowid, " + query_of<Row>(there->second) + " FROM " + table +
                          " NOT INDEXED WHERE rowid > ? ORDER BY rowid";
  Statement statement(db, sql.c_str());
  statement.bind(last_row);
  bool any = false;
  while (statement.next()) {
    // A page that several others point to would give its rows again and again.
    const std::int64_t id = statement.integer(0);
    if (id <= last_row)
      throw Error(ErrorCode::kCorruption, path + ": damaged: table " + table + ": row " +
                                              std::to_string(id) + " comes after row " +
                                              std::to_string(last_row));
    last_row = id;
    Row row = read_row<Row>(statement, 1, id);
    index(row);
    if constexpr (!std::is_same_v<Row, PieceRow>)  // pieces are in piece_of
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
  // Once the run is known, only its end is read again: its texts may be long.
  const std::set<std::string>& there = file_tables.at("run");
  const std::string columns =
      "method, " + query_of<RunState>(there) + (has_run_ ? "" : ", " + query_of<RunInfo>(there));
  Statement statement(
      db, ("SELECT " + columns + " FROM run NOT INDEXED ORDER BY rowid LIMIT 1").c_str());
  bool changed = false;
  while (statement.next()) {
    // A recorder creates the row before it knows the run.
    if (!has_run_ && !statement.is_null(0)) {
      info = read_row<RunInfo>(statement, 1 + static_cast<int>(column_count<RunState>), 1);
      has_run_ = changed = true;
    }
    RunState now = read_row<RunState>(statement, 1, 1);
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
    any |= read_table(db, member, last_row);
  });
  return any;
}

void CaptureRows::read_bookmarks(Database& db) {
  bookmarks.clear();
  const auto there = file_tables.find(RowType<Bookmark>::kTable);
  if (there == file_tables.end()) return;
  // Rows come in the order of the id, which is checked, and are sorted here: SQLite's sorter would
  // gather the rows of a page that is pointed to a million times before it returned the first.
  Statement statement(db, ("SELECT rowid, " + query_of<Bookmark>(there->second) +
                           " FROM bookmark NOT INDEXED ORDER BY rowid")
                              .c_str());
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

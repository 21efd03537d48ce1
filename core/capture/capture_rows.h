// The rows of a capture, each checked as it is read, and the indices that find a node's newest row.
// A row that no recorder writes is Error{kCorruption} naming table, row, what was expected and what
// was found; rows read before it stay. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_types.h"
#include "core/capture/schema.h"
#include "core/capture/slot_history.h"

namespace triescope::capture {

class Database;
class Statement;

// The rows of one owner: its inputs, candidates, slots and memory, with their indices.
struct OwnerRows : RowTables {
  std::vector<ForwardId> forwards;
  std::vector<std::int32_t> newest_candidates;  // by node: index of its newest group; -1 = none
  struct CandidateGroup {
    std::int32_t first, count, earlier;
    Tick tick;
  };
  std::vector<CandidateGroup> candidate_groups;
  SlotHistory slot_history;
};

// The target's rows and those that have no owner (nodes, verdicts, ...).
struct CaptureRows : OwnerRows {
  // Both read what was added since the last call and return whether anything was.
  bool read_run(Database& db);
  bool read_tables(Database& db);
  void read_bookmarks(Database& db);

  OwnerRows& of(Whose whose) {
    return whose == Whose::kTarget ? *this : others[static_cast<std::size_t>(whose) - 1];
  }
  const OwnerRows& of(Whose whose) const { return const_cast<CaptureRows*>(this)->of(whose); }

  std::string path;  // for messages
  FileTables file_tables;

  RunInfo info;
  RunState state;
  std::unordered_map<std::int32_t, std::string> piece_of;  // by token
  std::vector<Bookmark> bookmarks;
  std::array<OwnerRows, kWhoseCount - 1> others;  // the draft model's and the head's

  // By node: index of its newest row. By row: index of the same node's row before it. -1 = none.
  std::vector<std::int32_t> newest_verdict, newest_score;
  std::vector<std::int32_t> earlier_verdict, earlier_score;  // by row

 private:
  [[noreturn]] void damaged(const char* table, std::int64_t row, const std::string& what) const;
  void check_range(const char* table, std::int64_t row, const char* column, std::int64_t value,
                   std::int64_t low, std::int64_t high) const;
  void check_json(const char* table, std::int64_t row, const char* column,
                  const std::string& text) const;
  // Parses a JSON list of numbers, `read(from, to)` each: it returns where the number ends, or null.
  template <class Read>
  void each_of_list(const char* table, std::int64_t row, const char* column, std::string_view text,
                    const char* expected, Read read) const;
  std::vector<std::int32_t> tokens_of(const char* table, std::int64_t row, const char* column,
                                      std::string_view text) const;
  std::vector<float> numbers_of(const char* table, std::int64_t row, const char* column,
                                std::string_view text) const;
  std::vector<std::int32_t> runs_of(const char* table, std::int64_t row, const char* column,
                                    std::string_view text) const;
  std::int64_t code_of(const char* table, std::int64_t row, const char* column,
                       std::string_view name, Names names) const;
  template <class Value, class ColumnOfRow>
  Value value_of(Statement& statement, int place, const char* table, std::int64_t row,
                 const ColumnOfRow& column) const;
  template <class Row>
  std::int64_t implied(const Row& row, Rule rule) const;
  template <class Row, class ColumnOfRow>
  void check_relation(const Row& row, const ColumnOfRow& column, std::int64_t id,
                      std::int64_t value) const;
  template <class Row>
  Row read_row(Statement& statement, int first, std::int64_t id) const;
  template <class Row>
  bool read_table(Database& db, std::vector<Row> RowTables::*member, std::int64_t& last_row);

  // Adds a row that was read to the indices, before it joins its table.
  template <class Row>
  void index(const Row&) {}
  void index(const PieceRow& row);
  void index(const NodeRow& row);
  void index(const NodeScoreRow& row);
  void index(const VerdictRow& row);
  void index(const InputRow& row);
  void index(const CandidateRow& row);
  void index(const SlotRow& row);

  bool has_run_ = false;
  std::array<std::int64_t, std::tuple_size_v<decltype(kRowTables)>> last_row_{};
};

}  // namespace triescope::capture

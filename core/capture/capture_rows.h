// The rows of a capture, each checked as it is read, and the indices that find a node's newest row.
// A row that no recorder writes is Error{kCorruption} naming table, row, what was expected and what
// was found; rows read before it stay. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_tables.h"
#include "core/capture/slot_history.h"

namespace triescope::capture {

class Database;

struct CaptureRows : RowTables {
  // Both read what was added since the last call and say whether anything was.
  bool read_run(Database& db);
  bool read_tables(Database& db);
  void read_bookmarks(Database& db);

  std::string path;  // for messages

  RunInfo run;
  RunStatus status = RunStatus::kRunning;
  std::string status_message;

  std::unordered_map<std::int32_t, std::string> pieces;
  std::vector<Bookmark> bookmarks;

  // Index of a node's newest row, and of the row before it in the chain; -1 = none.
  std::vector<std::int32_t> newest_verdict, newest_score, newest_candidates;
  std::vector<std::int32_t> earlier_verdict, earlier_score;  // by row
  struct CandidateGroup {
    std::int32_t first, count, earlier;
    Tick tick;
  };
  std::vector<CandidateGroup> candidate_groups;
  SlotHistory slot_history;

 private:
  [[noreturn]] void damaged(const char* table, std::int64_t row, const std::string& what) const;
  std::int32_t in_range(const char* table, std::int64_t row, const char* column, std::int64_t value,
                        std::int64_t low, std::int64_t high) const;
  Tick checked_tick(const char* table, std::int64_t row, std::int64_t tick) const;
  template <class Row>
  Tick later_tick(const char* table, std::int64_t row, std::int64_t tick,
                  const std::vector<Row>& before) const;
  std::vector<std::int32_t> tokens_of(const char* table, std::int64_t row,
                                      std::span<const std::byte> blob) const;
  std::string json_text(const char* column, std::string text) const;
  std::int32_t existing_node(const char* table, std::int64_t row, std::int64_t node) const;
  template <class Row>
  bool read(Database& db, int index, const char* sql, Row row);

  bool has_run_ = false;
  std::array<std::int64_t, 13> last_row_{};
};

}  // namespace triescope::capture

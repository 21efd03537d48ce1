// The rows that go from the decode thread to the recorder's thread, and to disk, in one go.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/recorder.h"
#include "core/capture/row_tables.h"

namespace triescope::capture {

struct Batch : RowTables {
  std::optional<RunInfo> run;
  std::vector<std::pair<std::int32_t, std::string>> pieces;
  std::optional<std::pair<RunStatus, std::string>> finish;
  std::size_t bytes = 0;  // about what it holds; 0 = empty
};

// Memory a row takes in a batch.
template <class Row>
std::size_t size_of(const Row&) {
  return sizeof(Row);
}
inline std::size_t size_of(const VerdictRow& row) { return sizeof row + row.reason.size(); }
inline std::size_t size_of(const LogRow& row) { return sizeof row + row.text.size(); }
inline std::size_t size_of(const SequenceRow& row) {
  return sizeof row + row.tokens.size() * sizeof(std::int32_t);
}
inline std::size_t size_of(const RunInfo& info) {
  return sizeof info + info.prompt_text.size() + info.prompt_tokens.size() * sizeof(std::int32_t);
}

}  // namespace triescope::capture

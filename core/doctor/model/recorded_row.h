// A row that was recorded, and the numbers of one that was computed, against each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/capture/records.h"
#include "core/doctor/run_view.h"
#include "core/model/model.h"

namespace triescope::doctor {

// A token at its place in a row's context.
struct Cell {
  std::int32_t token = 0, position = 0;
  // Indices of the cells before it that it sees, in the order of ForwardBatch::own_slots; not given: all of them, as
  // they stand.
  std::optional<std::vector<std::int32_t>> sees = {};
  bool operator==(const Cell&) const = default;
};

// The logits of one row, computed from what it is told to see: tokens, positions and, where the row
// is to be wrong in a certain way, a list of what it attends to. Rows that a query shares with the one
// before it at its front are not computed again. Not thread-safe.
class RowOracle {
 public:
  explicit RowOracle(Model& model) : model_(model) {}

  // Logits of the last cell's row [vocab]. `prompt`: how many tokens the text began with.
  std::vector<float> logits(std::span<const Cell> cells, std::int32_t prompt);
  const ModelInfo& info() const { return model_.info(); }

 private:
  void run(std::size_t first, std::size_t count, std::int32_t prompt);

  Model& model_;
  std::unique_ptr<KvStorage> kv_;
  std::vector<Cell> known_;  // what the slots 0, 1, 2, … hold
  std::vector<float> last_;
};

struct RecordedRow {
  std::int32_t step = -1, node = 0;                  // whose next token it is about
  std::span<const capture::CandidateRow> best = {};  // as recorded
};

// The prompt and the path to a node, each cell at its place.
std::vector<Cell> cells_of(const RunView& run, std::int32_t node);
// Largest difference of a recorded log-probability to those that the logits make.
double distance(const RecordedRow& row, std::span<const float> logits);
std::vector<float> log_softmax(std::span<const float> logits, double temperature = 1);

}  // namespace triescope::doctor

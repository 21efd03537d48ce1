// The logits of one row, computed from what it is told to see: tokens, positions and, where the row
// is to be wrong in a certain way, a list of what it attends to. Rows that a query shares with the one
// before it at its front are not computed again. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/model/model.h"

namespace triescope::doctor {

struct Cell {
  std::int32_t token = 0, position = 0;
  // Indices of the cells before it that it sees, ascending; not given: all of them.
  std::optional<std::vector<std::int32_t>> sees = {};
  bool operator==(const Cell&) const = default;
};

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

}  // namespace triescope::doctor

// StepRows: what a model computed in its newest forward, row by row. A TreeRunner is one;
// LogitsFrom gives logits without a model (for an experiment or a test). Valid until the next
// forward.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/model/logits_row.h"

namespace triescope {

class StepRows {
 public:
  virtual ~StepRows() = default;
  // Raw fp32 logits [vocab] of a row.
  virtual LogitsRow logits(int row) const = 0;
  // Hidden state [hidden] of a row; `layer` was asked for before the forward.
  virtual std::span<const float> feature(int row, std::int32_t layer) const = 0;
  // Hidden state [hidden] of a position of the prefill.
  virtual std::span<const float> feature_at(std::int32_t position, std::int32_t layer) const = 0;
};

// StepRows whose logits come from `logits(row)`; it has no hidden states.
template <class Logits>
class LogitsFrom final : public StepRows {
 public:
  explicit LogitsFrom(Logits logits) : logits_(std::move(logits)) {}
  LogitsRow logits(int row) const override { return logits_(row); }
  std::span<const float> feature(int, std::int32_t) const override { return none(); }
  std::span<const float> feature_at(std::int32_t, std::int32_t) const override { return none(); }

 private:
  [[noreturn]] static std::span<const float> none() {
    throw Error(ErrorCode::kInvalidArgument,
                "features: expected rows of a model; found logits alone");
  }
  Logits logits_;
};

}  // namespace triescope

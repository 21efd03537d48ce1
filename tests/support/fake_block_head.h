// FakeBlockHead: a DFlash head for tests. It fills blocks as another fake model would write on.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/support/fake_model.h"
#include "tests/support/pair_kv.h"

namespace triescope::test {

// Rows with states are the text's, rows without are a block. A block must see the text's rows, one a position, and no
// row of an older block.
class FakeBlockHead final : public Model {
 public:
  struct Block {
    Pairs text;     // what it saw before itself
    Tokens tokens;  // its own
  };
  FakeBlockHead(std::shared_ptr<const FakeModel> writes, int context) : writes_(std::move(writes)) {
    info_ = writes_->info();
    info_.name = "fake block head";
    info_.context = context;
    info_.sliding_window = info_.kv_window = info_.kv_valid_until = 0;
    info_.layers = 1;
  }

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<PairKv>(capacity);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "fake block head: stopped");
    auto& cells = dynamic_cast<PairKv&>(kv).cells;
    const std::size_t rows = batch.tokens.size(), width = batch.input_features.size() / rows;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto state = batch.input_features.subspan(r * width, width);
      cells.at(static_cast<std::size_t>(batch.slots[r])) = {
          batch.tokens[r], {state.begin(), state.end()}, batch.positions[r]};
    }
    logits_.clear();
    if (width == 0) fill(batch, cells);
    return {.logits = logits_, .vocab_size = info_.vocab_size};
  }

  std::vector<Block> blocks;  // in order

 private:
  void fill(const ForwardBatch& batch, const Pairs& cells) {
    const std::size_t rows = batch.tokens.size();
    std::vector<std::int32_t> list(batch.prefix_slots.begin(), batch.prefix_slots.end());
    list.insert(list.end(), batch.own_slots.begin() + batch.own_offsets[rows - 1],
                batch.own_slots.end());
    Block block;
    block.tokens.assign(batch.tokens.begin(), batch.tokens.end());
    for (std::size_t i = 0; i + rows < list.size(); ++i) {
      block.text.push_back(cells.at(static_cast<std::size_t>(list[i])));
      if (block.text.back().position != static_cast<std::int32_t>(i) ||
          block.text.back().state.empty())
        throw Error(ErrorCode::kInvalidArgument,
                    "fake block head: expected a row of the text at position " + std::to_string(i) +
                        "; found one at " + std::to_string(block.text.back().position));
    }
    if (list.size() != static_cast<std::size_t>(batch.positions[rows - 1]) + 1)
      throw Error(ErrorCode::kInvalidArgument,
                  "fake block head: a block misses a part of the text");
    Tokens text;
    for (const Pair& pair : block.text) text.push_back(pair.token);
    text.push_back(batch.tokens[0]);
    logits_.assign(static_cast<std::size_t>(info_.vocab_size), 0.0f);  // the newest token's row
    for (std::size_t r = 1; r < rows; ++r) {
      const std::vector<float> made = writes_->logits_of(text);
      logits_.insert(logits_.end(), made.begin(), made.end());
      text.push_back(static_cast<std::int32_t>(std::ranges::max_element(made) - made.begin()));
    }
    blocks.push_back(std::move(block));
  }

  std::shared_ptr<const FakeModel> writes_;
  ModelInfo info_;
  std::vector<float> logits_;
};

}  // namespace triescope::test

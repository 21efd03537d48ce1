// KnownText: a target for runs that all write its greedy text after one prompt. The target computes each
// position of that text once, with the states that the runs read. A run's rows that lie on the text are
// looked up; greedy decoding rejects all others, which have zeros for states and for logits nothing that
// anybody may rely on. So a run costs its drafter alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace triescope::app {

class KnownText final : public Model, public DeviceLogits {
 public:
  // `layers`: the states that runs may ask for, as in ForwardBatch::feature_layers. They are kept for every
  // position, fp32 on the host, and so is the target's KV. Borrows the target. Only for greedy runs of this
  // prompt, without masks and with all layers, that serves() allows.
  KnownText(Model& target, std::vector<std::int32_t> prompt, std::vector<std::int32_t> layers);
  // Does the text, with drafts beyond its end, stay on one side of ModelInfo::kv_valid_until? What was
  // computed before it is not recomputed.
  static bool serves(const ModelInfo& target, std::size_t prompt_tokens, int max_new_tokens);

  const ModelInfo& info() const override { return target_.info(); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override;
  // Errors: the target's; kInvalidArgument: a layer whose states are not kept.
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override;
  DeviceMemory device_memory() const override { return target_.device_memory(); }

  // --- DeviceLogits: of each row the best token alone ---
  std::size_t vocab_size() const override { return static_cast<std::size_t>(info().vocab_size); }
  float log_sum_exp(int row) const override { return row_at(row).log_sum_exp; }
  std::span<const std::pair<float, std::int32_t>> best(int row) const override {
    return {&row_at(row).best, 1};
  }
  float logit(int row, std::int32_t token) override;
  std::span<const float> whole(int row) override;

 private:
  struct Row {
    std::pair<float, std::int32_t> best = {0, 0};  // logit, token
    float log_sum_exp = 0;
  };
  const Row& row_at(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  // Has the target compute the text up to this position, and the token after it, where it has not.
  void compute(std::size_t position, const std::stop_token& stop);
  // The state at a position of the text, [hidden].
  std::span<const float> state(std::size_t position, std::int32_t layer) const;

  Model& target_;
  std::vector<std::int32_t> text_;  // the prompt and what is known behind it
  std::size_t prompt_tokens_;
  std::vector<std::int32_t> layers_;
  std::unique_ptr<KvStorage> kv_;  // the target's; a slot's number is its position
  std::vector<Row> next_;          // after the prompt's last position and each later one
  std::vector<float> states_;      // [positions, layers, hidden]
  // Of the last forward:
  std::vector<Row> rows_;
  std::vector<float> features_, whole_;
};

}  // namespace triescope::app

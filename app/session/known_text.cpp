#include "app/session/known_text.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/model/kv_slots.h"

namespace triescope::app {
namespace {

// A run's own: does the slot's row, with all that it sees, lie on the text?
class TextSlots final : public KvStorage {
 public:
  TextSlots(int capacity, std::int64_t bytes_per_slot)
      : on_text(static_cast<std::size_t>(capacity)), bytes_per_slot_(bytes_per_slot) {}
  int capacity() const override { return static_cast<int>(on_text.size()); }
  std::int64_t bytes_per_slot() const override { return bytes_per_slot_; }
  void reserve(int capacity) override {
    grow(this->capacity(), capacity,
         [this](int wanted) { on_text.resize(static_cast<std::size_t>(wanted)); });
  }
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override {
    check_move(from, to, capacity());
    std::vector<bool> read;
    for (const std::int32_t slot : from) read.push_back(on_text[static_cast<std::size_t>(slot)]);
    for (std::size_t i = 0; i < to.size(); ++i) on_text[static_cast<std::size_t>(to[i])] = read[i];
  }

  std::vector<bool> on_text;

 private:
  std::int64_t bytes_per_slot_;
};

// The slot that a row sees just before its own; -1: none.
std::int32_t slot_before(const ForwardBatch& batch, std::size_t row) {
  const auto first = batch.own_offsets.empty() ? 0 : batch.own_offsets[row];
  const auto own =
      batch.own_offsets.empty()
          ? batch.slots.first(row + 1)
          : batch.own_slots.subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(batch.own_offsets[row + 1] - first));
  if (own.size() > 1) return own[own.size() - 2];
  return batch.prefix_slots.empty() ? -1 : batch.prefix_slots.back();
}

}  // namespace

KnownText::KnownText(Model& target, std::vector<std::int32_t> prompt,
                     std::vector<std::int32_t> layers)
    : target_(target),
      text_(std::move(prompt)),
      prompt_tokens_(text_.size()),
      layers_(std::move(layers)),
      kv_(target.make_kv(static_cast<int>(text_.size()))) {}

bool KnownText::serves(const ModelInfo& target, std::size_t prompt_tokens, int max_new_tokens) {
  const auto limit = static_cast<std::size_t>(target.kv_valid_until);
  // No tree of drafts is deeper than the text that is asked for.
  const std::size_t longest = prompt_tokens + 2 * static_cast<std::size_t>(max_new_tokens);
  return limit == 0 || prompt_tokens > limit || longest <= limit;
}

std::unique_ptr<KvStorage> KnownText::make_kv(int capacity) {
  return std::make_unique<TextSlots>(capacity, kv_->bytes_per_slot());
}

void KnownText::compute(std::size_t position, const std::stop_token& stop) {
  const auto hidden = static_cast<std::size_t>(info().hidden);
  const auto computed = [&] { return next_.empty() ? 0 : text_.size() - 1; };
  while (computed() <= position) {
    const std::size_t known = computed();
    kv_->reserve(static_cast<int>(text_.size()));
    states_.resize(known * layers_.size() * hidden);  // what an interrupted call left
    const std::vector<std::int32_t> numbers = count_up(text_.size());
    for (const auto [first, count] :
         pieces_of(text_.size() - known, static_cast<std::size_t>(info().prefill_rows))) {
      const std::span<const std::int32_t> before = std::span(numbers).first(known + first),
                                          at = std::span(numbers).subspan(known + first, count),
                                          rows = std::span(numbers).first(count);
      const bool is_last = known + first + count == text_.size();
      const ForwardOutput out =
          target_.forward({.tokens = std::span(text_).subspan(known + first, count),
                           .positions = at,
                           .slots = at,
                           .prefix_slots = before,
                           .own_slots = {},
                           .own_offsets = {},
                           .logit_rows = rows.last(is_last ? 1 : 0),
                           .best_tokens = 1,
                           .feature_layers = layers_,
                           .feature_rows = rows.first(layers_.empty() ? 0 : count),
                           .text_length = static_cast<std::int32_t>(prompt_tokens_)},
                          *kv_, stop);
      for (std::size_t row = 0; row < count; ++row)
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
          const auto from = out.features.subspan((layer * count + row) * hidden, hidden);
          states_.insert(states_.end(), from.begin(), from.end());
        }
      if (!is_last) continue;
      const LogitsRow row = out.row(0);
      const std::int32_t token = row.argmax();
      next_.push_back({.best = {row[static_cast<std::size_t>(token)], token},
                       .log_sum_exp = row.log_sum_exp()});
      text_.push_back(token);
    }
  }
}

std::span<const float> KnownText::state(std::size_t position, std::int32_t layer) const {
  const auto found = std::ranges::find(layers_, layer);
  if (found == layers_.end())
    throw Error(
        ErrorCode::kInvalidArgument,
        "known text: expected a layer whose states are kept; found " + std::to_string(layer));
  const auto hidden = static_cast<std::size_t>(info().hidden);
  const auto index = static_cast<std::size_t>(found - layers_.begin());
  return std::span(states_).subspan((position * layers_.size() + index) * hidden, hidden);
}

ForwardOutput KnownText::forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) {
  std::vector<bool>& on_text = dynamic_cast<TextSlots&>(kv).on_text;
  const auto position = [&](std::int32_t row) {
    return static_cast<std::size_t>(batch.positions[static_cast<std::size_t>(row)]);
  };
  const auto slot = [&](std::int32_t row) {
    return static_cast<std::size_t>(batch.slots[static_cast<std::size_t>(row)]);
  };
  std::vector<std::int32_t> downwards = count_up(batch.tokens.size());
  std::ranges::stable_sort(downwards, {}, position);
  for (const std::int32_t row : downwards) {
    const std::int32_t before = slot_before(batch, static_cast<std::size_t>(row));
    const bool hangs_on_text =
        before < 0 ? position(row) == 0 : on_text[static_cast<std::size_t>(before)];
    const bool is_on_text =
        hangs_on_text && text_[position(row)] == batch.tokens[static_cast<std::size_t>(row)];
    on_text[slot(row)] = is_on_text;
    if (is_on_text) compute(position(row), stop);
  }
  rows_.assign(batch.logit_rows.size(), {});
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (const std::int32_t row = batch.logit_rows[i];
        on_text[slot(row)] && position(row) + 1 >= prompt_tokens_)
      rows_[i] = next_[position(row) + 1 - prompt_tokens_];
  features_.clear();
  for (const std::int32_t layer : batch.feature_layers)
    for (const std::int32_t row : batch.feature_rows)
      if (on_text[slot(row)])
        std::ranges::copy(state(position(row), layer), std::back_inserter(features_));
      else
        features_.resize(features_.size() + static_cast<std::size_t>(info().hidden));
  return {.logits = {}, .on_device = this, .features = features_, .vocab_size = info().vocab_size};
}

float KnownText::logit(int row, std::int32_t token) {
  const auto& [logit, best] = row_at(row).best;
  return token == best ? logit : -std::numeric_limits<float>::infinity();
}

std::span<const float> KnownText::whole(int row) {
  whole_.assign(vocab_size(), -std::numeric_limits<float>::infinity());
  const auto& [logit, best] = row_at(row).best;
  whole_[static_cast<std::size_t>(best)] = logit;
  return whole_;
}

}  // namespace triescope::app

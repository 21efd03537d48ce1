#include "core/methods/draft_runner.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace triescope {

bool DraftRunner::follows(const TokenTree& tree, std::span<const std::int32_t> prompt,
                          NodeId node) const {
  const ModelInfo& info = model_.info();
  if (info.context > 0 && tree.position(node) >= info.context) return false;
  const auto knows = [&](std::int32_t token) { return token < info.vocab_size; };
  return std::ranges::all_of(prompt, knows) &&
         std::ranges::all_of(tree.tokens_to(node),
                             [&](TokenId token) { return knows(token.value); });
}

bool DraftRunner::reaches(std::int32_t position) const {
  const ModelInfo& info = model_.info();
  if (info.context > 0 && position >= info.context) return false;
  return info.kv_valid_until <= 0 || outgrown_ || position < info.kv_valid_until;
}

std::int32_t DraftRunner::take_slot() {
  if (!free_.empty()) {
    const std::int32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  return slots_used_++;
}

void DraftRunner::forward(const ForwardBatch& batch, std::stop_token stop) {
  if (slots_used_ > kv_->capacity())
    kv_->reserve(std::max(slots_used_, kv_->capacity() + kv_->capacity() / 2));
  cost_.kv_peak_tokens = std::max(
      cost_.kv_peak_tokens, static_cast<std::int32_t>(path_slots_.size() + below_slots_.size()));
  output_ = model_.forward(batch, *kv_, stop);
  ++cost_.forwards;
  cost_.forward_rows += static_cast<std::int64_t>(batch.tokens.size());
}

void DraftRunner::follow(const TokenTree& tree, std::span<const std::int32_t> prompt, NodeId node,
                         std::stop_token stop) {
  const std::vector<NodeId> path = tree.path_to(node);
  const std::size_t total = prompt.size() + path.size();
  if (!kv_) {
    kv_ = model_.make_kv(static_cast<int>(total) + 32);
    cost_.kv_bytes_per_token = kv_->bytes_per_slot();
  }

  // What of the text has KV already: the old path as far as it agrees, then drafts that were
  // accepted. The last node runs in any case, for its row.
  std::size_t known = 0;
  while (known < path_.size() && known + 1 < path.size() && path_[known] == path[known]) ++known;
  std::size_t kept = path_slots_.empty() ? 0 : prompt.size() + known;
  for (std::size_t i = kept; i < path_slots_.size(); ++i) free_.push_back(path_slots_[i]);
  path_slots_.resize(kept);
  if (kept > 0) {
    for (; known + 1 < path.size(); ++known) {
      const auto at = std::ranges::find(below_, path[known]);
      if (at == below_.end()) break;
      auto& slot = below_slots_[static_cast<std::size_t>(at - below_.begin())];
      path_slots_.push_back(slot);
      slot = -1;
    }
  }
  for (const std::int32_t slot : below_slots_)
    if (slot >= 0) free_.push_back(slot);
  below_.clear();
  below_slots_.clear();

  const int limit = model_.info().kv_valid_until;
  if (limit > 0 && !outgrown_ && total > static_cast<std::size_t>(limit)) {
    outgrown_ = true;
    free_.insert(free_.end(), path_slots_.begin(), path_slots_.end());
    path_slots_.clear();
  }
  kept = path_slots_.size();

  std::vector<std::int32_t> tokens, positions;
  for (std::size_t i = kept; i < total; ++i) {
    tokens.push_back(i < prompt.size() ? prompt[i] : tree[path[i - prompt.size()]].token.value);
    positions.push_back(static_cast<std::int32_t>(i));
    path_slots_.push_back(take_slot());
  }
  path_ = path;
  std::size_t text_length = kept == 0 ? prompt.size() : 0;
  if (outgrown_) text_length = std::max(total, static_cast<std::size_t>(limit) + 1);

  const std::span<const std::int32_t> slots(path_slots_);
  try {
    for (std::size_t start = 0; start < tokens.size(); start += kPrefillChunk) {
      if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
      const std::size_t count = std::min(kPrefillChunk, tokens.size() - start);
      std::vector<std::int32_t> wanted;
      if (start + count == tokens.size()) wanted.push_back(static_cast<std::int32_t>(count) - 1);
      forward({.tokens = std::span(tokens).subspan(start, count),
               .positions = std::span(positions).subspan(start, count),
               .slots = slots.subspan(kept + start, count),
               .prefix_slots = slots.first(kept + start),
               .own_slots = {},
               .own_offsets = {},
               .logit_rows = wanted,
               .text_length = static_cast<std::int32_t>(text_length)},
              stop);
    }
  } catch (...) {
    // Slots without KV must not be taken for known ones.
    path_.clear();
    path_slots_.clear();
    free_.clear();
    slots_used_ = 0;
    throw;
  }
}

void DraftRunner::extend(const TokenTree& tree, std::span<const NodeId> nodes,
                         std::stop_token stop) {
  std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0}, wanted;
  for (const NodeId node : nodes) {
    wanted.push_back(static_cast<std::int32_t>(tokens.size()));
    tokens.push_back(tree[node].token.value);
    positions.push_back(tree.position(node));
    slots.push_back(take_slot());
    below_.push_back(node);
    below_slots_.push_back(slots.back());
    const std::size_t begin = own.size();
    for (NodeId at = node; at != path_.back(); at = tree[at].parent) {
      const auto found = std::ranges::find(below_, at);
      if (found == below_.end())
        throw Error(ErrorCode::kInvalidArgument,
                    "draft model: expected node " + std::to_string(node.value) +
                        " to hang below the text it follows, found it elsewhere");
      own.push_back(below_slots_[static_cast<std::size_t>(found - below_.begin())]);
    }
    std::reverse(own.begin() + static_cast<std::ptrdiff_t>(begin), own.end());
    offsets.push_back(static_cast<std::int32_t>(own.size()));
  }
  forward({.tokens = tokens,
           .positions = positions,
           .slots = slots,
           .prefix_slots = path_slots_,
           .own_slots = own,
           .own_offsets = offsets,
           .logit_rows = wanted,
           .text_length = outgrown_ ? model_.info().kv_valid_until + 1 : 0},
          stop);
}

std::span<const float> DraftRunner::logits(int row, int vocab_size) {
  const auto all = output_.row(row);
  const auto wanted = static_cast<std::size_t>(vocab_size);
  if (all.size() >= wanted) return all.first(wanted);
  row_.assign(all.begin(), all.end());
  row_.resize(wanted, -std::numeric_limits<float>::infinity());
  return row_;
}

}  // namespace triescope

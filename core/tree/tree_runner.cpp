#include "core/tree/tree_runner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/model/kv_copies.h"

namespace triescope {
namespace {

// Reserved beyond the prompt, so that short runs never enlarge their KV.
constexpr std::int32_t kSpareSlots = 32;

}  // namespace

TreeRunner::TreeRunner(Model& model, std::span<const std::int32_t> prompt,
                       const KvPolicyOptions& kv, bool record, const MaskInputs* masks)
    : model_(model),
      prompt_(prompt),
      kv_options_(kv),
      record_(record),
      masks_(masks),
      mask_prefix_(count_up(masks ? static_cast<std::size_t>(masks->prefix) : 0)) {
  const auto front = static_cast<std::int32_t>(mask_prefix_.size());
  store_ = std::make_unique<SlotStore>(
      model.make_kv(front + static_cast<std::int32_t>(prompt.size()) + kSpareSlots), record, front);
  policy_ = make_kv_policy(kv, *store_);
  if (front > 0) store_->storage().write(mask_prefix_, masks->prefix_keys, masks->prefix_values);
}

void TreeRunner::wait_for_memory(const MemoryWait& wait) {
  memory_wait_ = wait;
  store_->wait_for_memory(wait);
}

// `nodes` belong to the last rows; the rows before them are the prompt's.
void TreeRunner::run(ForwardBatch batch, std::span<const NodeId> nodes, std::stop_token stop) {
  const std::size_t before = batch.tokens.size() - nodes.size();
  const auto node_of = [&](std::size_t i) { return i < before ? NodeId() : nodes[i - before]; };
  if (input_source_) {
    input_features_.clear();
    for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
      const std::span<const float> state = input_source_(node_of(i), batch.positions[i]);
      input_features_.insert(input_features_.end(), state.begin(), state.end());
    }
    batch.input_features = input_features_;
  }
  if (token_source_) {
    input_tokens_.assign(batch.tokens.begin(), batch.tokens.end());
    for (std::size_t i = 0; i < input_tokens_.size(); ++i)
      input_tokens_[i] = token_source_(node_of(i), batch.positions[i], input_tokens_[i]);
    batch.tokens = input_tokens_;
  }
  batch.slots = store_->in_storage(batch.slots, stored_[0]);
  batch.prefix_slots = store_->in_storage(batch.prefix_slots, stored_[1]);
  batch.own_slots = store_->in_storage(batch.own_slots, stored_[2]);
  // A forward writes K and V of its own rows only, so it can be run again.
  output_ =
      with_memory(memory_wait_, [&] { return model_.forward(batch, store_->storage(), stop); });
  if (output_.on_device != nullptr) {
    fetched_.stand_before(*output_.on_device, memory_wait_);
    output_.on_device = &fetched_;
  }
  ++figures_.forwards;
  figures_.rows += static_cast<std::int64_t>(batch.tokens.size());
}

void TreeRunner::prefill(const TokenTree& tree, std::span<const NodeId> path, std::stop_token stop,
                         const ProgressSink& progress, const LogitsSink& before_last) {
  std::vector<std::int32_t> tokens(prompt_.begin(), prompt_.end());
  for (const NodeId id : path) tokens.push_back(tree[id].token.value);
  const std::vector<std::int32_t> slots = policy_->place_prefix(
      tree, path, tree.prompt_tokens() - static_cast<std::int32_t>(prompt_.size()));
  const std::size_t total = tokens.size();
  const std::vector<std::int32_t> positions = count_up(total);
  prefilled_ = true;
  note_peaks();

  const int limit = info().kv_valid_until;
  outgrown_ = limit > 0 && total > static_cast<std::size_t>(limit);
  const std::size_t text_length = outgrown_ ? total : prompt_.size();

  const auto hidden = static_cast<std::size_t>(info().hidden);
  prefill_positions_ = static_cast<std::int32_t>(total);
  prefill_features_.assign(feature_layers_.size() * total * hidden, 0.0f);
  for (const auto [start, count] :
       pieces_of(total, static_cast<std::size_t>(info().prefill_rows))) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
    const std::size_t end = start + count;
    const bool has_before_last = before_last && start + 2 <= total && end + 1 >= total;
    std::vector<std::int32_t> wanted;
    if (has_before_last) wanted.push_back(static_cast<std::int32_t>(total - 2 - start));
    if (end == total) wanted.push_back(static_cast<std::int32_t>(count - 1));
    run({.tokens = std::span(tokens).subspan(start, count),
         .positions = std::span(positions).subspan(start, count),
         .slots = std::span(slots).subspan(start, count),
         .prefix_slots = std::span(slots).first(start),
         .own_slots = {},
         .own_offsets = {},
         .logit_rows = wanted,
         .best_tokens = best_tokens_,
         .feature_layers = feature_layers_,
         .feature_rows = count_up(feature_layers_.empty() ? 0 : count),
         .text_length = static_cast<std::int32_t>(text_length)},
        path.first(end - std::min(prompt_.size(), end))
            .subspan(start - std::min(prompt_.size(), start)),
        stop);
    if (has_before_last) before_last(output_.row(0));
    first_logit_row_ = static_cast<int>(wanted.size()) - 1;
    for (std::size_t layer = 0; layer < feature_layers_.size(); ++layer)
      std::ranges::copy(output_.features.subspan(layer * count * hidden, count * hidden),
                        prefill_features_.begin() +
                            static_cast<std::ptrdiff_t>((layer * total + start) * hidden));
    if (progress) progress("prefill", static_cast<double>(end), static_cast<double>(total));
  }
  rows_ = {path.empty() ? TokenTree::root() : path.back()};
  note_experts();
  note_inputs(tree, path, positions, slots, 0);
}

std::vector<std::int32_t> TreeRunner::slots_of_text(std::span<const NodeId> path) const {
  std::vector<std::int32_t> slots(prompt_.size() + path.size(), -1);
  for (std::int32_t slot = 0; slot < store_->size(); ++slot) {
    const std::int32_t token = prompt_occupant(store_->occupant(slot));  // its own inverse
    if (store_->use(slot) == SlotUse::kLive && token >= 0 &&
        token < static_cast<std::int32_t>(prompt_.size()))
      slots[static_cast<std::size_t>(token)] = slot;
  }
  for (std::size_t i = 0; i < path.size(); ++i)
    if (const SlotId slot = store_->slot_of(path[i]); slot.valid())
      slots[prompt_.size() + i] = slot.value;
  return slots;
}

bool TreeRunner::take_over(const TokenTree& tree, std::span<const NodeId> path,
                           const TreeRunner& whole, std::span<const std::int32_t> layers) {
  auto* const copies = dynamic_cast<KvCopies*>(&store_->storage());
  const KvStorage& other = whole.store_->storage();
  if (copies == nullptr || whole.prompt_.size() != prompt_.size() || info().kv_valid_until > 0 ||
      !copies->copy_from(other, {}, {}, layers))
    return false;
  std::vector<std::int32_t> theirs = whole.slots_of_text(path);
  if (std::ranges::find(theirs, -1) != theirs.end()) return false;
  std::vector<std::int32_t> ours =
      prefilled_ ? slots_of_text(path) : policy_->place_prefix(tree, path);
  prefilled_ = true;
  note_peaks();
  std::vector<std::int32_t> from, to;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] < 0) continue;  // advance() runs it
    from.push_back(theirs[i]);
    to.push_back(ours[i]);
  }
  std::vector<std::int32_t> stored_from, stored_to;
  copies->copy_from(other, whole.store_->in_storage(from, stored_from),
                    store_->in_storage(to, stored_to), layers);
  return true;
}

void TreeRunner::forward(const TokenTree& tree, std::span<const NodeId> rows,
                         std::stop_token stop) {
  const std::int32_t cached = store_->live() + store_->garbage();
  const Placement placed = policy_->place(tree, rows);
  note_peaks();
  std::vector<std::int32_t> tokens, positions;
  for (const NodeId id : rows) {
    tokens.push_back(tree[id].token.value);
    positions.push_back(position(tree, id));
  }
  rows_.assign(rows.begin(), rows.end());

  const int limit = info().kv_valid_until;
  if (limit > 0 && !outgrown_ && *std::ranges::max_element(positions) >= limit) {
    outgrown_ = true;
    recompute_kv(tree, placed, stop);
  }
  const std::vector<std::int32_t> all = count_up(rows.size());
  const MaskBatch masks = mask_rows(tree, tokens);
  run({.tokens = tokens,
       .positions = positions,
       .slots = placed.slots,
       .prefix_slots = placed.prefix_slots,
       .own_slots = placed.own_slots,
       .own_offsets = placed.own_offsets,
       .logit_rows = all,
       .best_tokens = best_tokens_,
       .feature_layers = feature_layers_,
       .feature_rows = feature_layers_.empty() ? std::span<const std::int32_t>() : all,
       .masks = masks,
       .text_length = outgrown_ ? limit + 1 : 0},
      rows, stop);
  first_logit_row_ = 0;
  count_experts();
  note_experts();
  // A beam with a cache of its own has its tree position as sequential position.
  note_inputs(tree, rows, positions, placed.slots,
              kv_options_.kind == KvPolicyKind::kBatch ? -1 : cached);
}

MaskBatch TreeRunner::mask_rows(const TokenTree& tree, std::vector<std::int32_t>& tokens) const {
  if (masks_ == nullptr) return {};
  MaskBatch masks{.embeddings = masks_->embeddings, .prefix_slots = mask_prefix_};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::int32_t number = -1;
    for (NodeId id = rows_[i]; tree[id].is_probe(); id = tree[id].parent) ++number;
    if (number >= masks_->count)
      throw Error(ErrorCode::kInvalidArgument, "forward: expected chains of at most " +
                                                   std::to_string(masks_->count) +
                                                   " masks; found a longer one");
    if (number >= 0) {
      tokens[i] = number;
      ++masks.rows;
    } else if (masks.rows > 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "forward: expected masks to be the last rows; found node " +
                      std::to_string(rows_[i].value) + " behind one, which is none");
    }
  }
  return masks;
}

// Computes the KV of everything that the placed rows see again, in the slots where it lies, as for
// a text longer than ModelInfo::kv_valid_until.
void TreeRunner::recompute_kv(const TokenTree& tree, const Placement& placed,
                              std::stop_token stop) {
  struct Old {
    std::int32_t token, position, slot;
    std::vector<std::int32_t> seen;  // slots in path order, its own last
  };
  std::vector<Old> all;
  IdVector<SlotId, bool> known;
  known.grow(store_->size());
  for (const std::int32_t slot : placed.slots) known[SlotId(slot)] = true;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::vector<std::int32_t> seen = placed.prefix_slots;
    seen.insert(seen.end(), placed.own_slots.begin() + placed.own_offsets[r],
                placed.own_slots.begin() + placed.own_offsets[r + 1]);
    const std::vector<TokenId> below = tree.tokens_to(rows_[r]);
    // nothing is out of a window yet, so p is the position
    for (std::size_t p = 0; p < seen.size(); ++p) {
      if (known[SlotId(seen[p])]) continue;
      known[SlotId(seen[p])] = true;
      all.push_back({p < prompt_.size() ? prompt_[p] : below[p - prompt_.size()].value,
                     static_cast<std::int32_t>(p),
                     seen[p],
                     {seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(p) + 1}});
    }
  }
  std::ranges::stable_sort(all, {}, &Old::position);
  for (const auto [start, count] :
       pieces_of(all.size(), static_cast<std::size_t>(info().prefill_rows))) {
    std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0};
    for (std::size_t i = start; i < start + count; ++i) {
      tokens.push_back(all[i].token);
      positions.push_back(all[i].position);
      slots.push_back(all[i].slot);
      own.insert(own.end(), all[i].seen.begin(), all[i].seen.end());
      offsets.push_back(static_cast<std::int32_t>(own.size()));
    }
    run({.tokens = tokens,
         .positions = positions,
         .slots = slots,
         .prefix_slots = {},
         .own_slots = own,
         .own_offsets = offsets,
         .logit_rows = {},
         .feature_layers = {},
         .feature_rows = {},
         .text_length = info().kv_valid_until + 1},
        {}, stop);
  }
}

void TreeRunner::commit(const TokenTree& tree, const StepOutcome& outcome) {
  horizon_ = horizon_of(tree, outcome.frontier);
  policy_->commit(tree, {.dropped = outcome.dropped,
                         .frontier = outcome.frontier,
                         .step = outcome.step,
                         .horizon = horizon_});
  note_peaks();
}

// A row at position i sees nothing at i - kv_window or before, and the rows to come are at the
// frontier's positions or beyond.
std::int32_t TreeRunner::horizon_of(const TokenTree& tree, std::span<const NodeId> next) const {
  const ModelInfo& model = info();
  if (model.kv_window == 0 || next.empty() || (model.kv_valid_until > 0 && !outgrown_))
    return horizon_;
  std::int32_t first = position(tree, next.front());
  for (const NodeId id : next) first = std::min(first, position(tree, id));
  return std::max(horizon_, first - model.kv_window + 1);
}

void TreeRunner::advance(const TokenTree& tree, std::span<const NodeId> nodes, std::stop_token stop,
                         std::int32_t kept_depth) {
  if (!prefilled_) {
    const bool one = nodes.size() == 1;
    prefill(tree, one ? tree.path_to(nodes.front()) : std::vector<NodeId>(), stop);
    if (one) return;
  }
  // The nodes of the paths that must run, and those that stay. Nodes before every window had KV and gave it
  // up, so the walk up a path ends at the first node that has some.
  std::unordered_set<NodeId> again(nodes.begin(), nodes.end()), kept;
  std::vector<NodeId> missing;
  for (const NodeId node : nodes) {
    NodeId id = tree[node].parent;
    for (; id != TokenTree::root(); id = tree[id].parent) {
      if (tree[id].depth <= kept_depth && store_->slot_of(id).valid()) break;
      if (again.insert(id).second) missing.push_back(id);
    }
    for (; id != TokenTree::root() && kept.insert(id).second;) id = tree[id].parent;
  }
  std::ranges::sort(missing);  // parents have lower ids
  missing.insert(missing.end(), nodes.begin(), nodes.end());
  std::vector<NodeId> dropped, first;
  for (std::int32_t slot = 0; slot < store_->size(); ++slot) {
    const NodeId held(store_->use(slot) == SlotUse::kLive ? store_->occupant(slot) : -1);
    if (held.valid() && held != TokenTree::root() && !kept.contains(held)) dropped.push_back(held);
  }
  std::ranges::sort(dropped, std::ranges::greater());  // children have higher ids
  std::ranges::copy_if(missing, std::back_inserter(first),
                       [&](NodeId id) { return !again.contains(tree[id].parent); });
  commit(tree, {.dropped = dropped, .frontier = first});
  forward(tree, missing, stop);
  first_logit_row_ = static_cast<int>(rows_.size() - nodes.size());
  rows_.assign(nodes.begin(), nodes.end());
}

bool TreeRunner::follows(const TokenTree& tree, NodeId node) const {
  if (info().context > 0 && position(tree, node) >= info().context) return false;
  const auto knows = [&](std::int32_t token) { return token < info().vocab_size; };
  return std::ranges::all_of(prompt_, knows) &&
         std::ranges::all_of(tree.tokens_to(node),
                             [&](TokenId token) { return knows(token.value); });
}

std::int32_t TreeRunner::levels_below(const TokenTree& tree, NodeId node) const {
  const std::int32_t at = position(tree, node);
  std::int32_t levels = std::numeric_limits<std::int32_t>::max();
  if (info().context > 0) levels = std::min(levels, info().context - 1 - at);
  if (const int limit = info().kv_valid_until; limit > 0 && at < limit)
    levels = std::min(levels, limit - 1 - at);
  return std::max(levels, 0);
}

std::size_t TreeRunner::index_of_layer(std::int32_t layer) const {
  const auto at = std::ranges::find(feature_layers_, layer);
  if (at == feature_layers_.end())
    throw Error(ErrorCode::kInvalidArgument,
                "features: expected a layer that was asked for; found " + std::to_string(layer));
  return static_cast<std::size_t>(at - feature_layers_.begin());
}

std::span<const float> TreeRunner::feature(int row, std::int32_t layer) const {
  const auto hidden = static_cast<std::size_t>(info().hidden);
  const std::size_t index = index_of_layer(layer);
  const std::size_t rows = output_.features.size() / (feature_layers_.size() * hidden);
  // rows_ are the last rows of the forward.
  const std::size_t at = rows - rows_.size() + static_cast<std::size_t>(row);
  return output_.features.subspan((index * rows + at) * hidden, hidden);
}

std::span<const float> TreeRunner::feature_at(std::int32_t position, std::int32_t layer) const {
  if (position < 0 || position >= prefill_positions_)
    throw Error(ErrorCode::kInvalidArgument,
                "features: expected a position of the prefill, below " +
                    std::to_string(prefill_positions_) + "; found " + std::to_string(position));
  const auto hidden = static_cast<std::size_t>(info().hidden);
  const std::size_t at = index_of_layer(layer) * static_cast<std::size_t>(prefill_positions_) +
                         static_cast<std::size_t>(position);
  return std::span(prefill_features_).subspan(at * hidden, hidden);
}

void TreeRunner::forget_prefill_features() {
  prefill_positions_ = 0;
  prefill_features_ = {};
}

// `nodes` are at the last positions; the positions before them are the prompt's. first_naive -1
// means the position itself.
void TreeRunner::note_inputs(const TokenTree& tree, std::span<const NodeId> nodes,
                             std::span<const std::int32_t> positions,
                             std::span<const std::int32_t> slots, std::int32_t first_naive) {
  if (!record_) return;
  std::vector<capture::InputRow>& inputs = inputs_.emplace_back();
  const std::size_t before = positions.size() - nodes.size();
  const auto skipped = tree.prompt_tokens() - static_cast<std::int32_t>(prompt_.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto at = static_cast<std::int32_t>(i);
    inputs.push_back({.row = at,
                      .node = i < before ? prompt_occupant(at + skipped) : nodes[i - before].value,
                      .position = positions[i],
                      .slot = slots[i],
                      .naive_position = first_naive < 0 ? positions[i] : first_naive + at});
  }
}

void TreeRunner::note_experts() {
  const ForwardExperts& all = output_.experts;
  if (!record_) return;
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer)
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      capture::ExpertRow row{.node = rows_[i].value, .layer = all.layers[layer]};
      for (const kernels::ChosenExpert& one :
           all.of(layer, static_cast<std::size_t>(first_logit_row_) + i)) {
        row.experts.push_back(one.expert);
        row.weights.push_back(one.weight);
      }
      // A network that overflowed has no weights that a capture could hold.
      if (!std::ranges::all_of(row.weights, [](float weight) { return std::isfinite(weight); }))
        row.weights.clear();
      experts_.push_back(std::move(row));
    }
}

void TreeRunner::count_experts() {
  const ForwardExperts& all = output_.experts;
  std::vector<std::int32_t> read;
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
    read.clear();
    for (const kernels::ChosenExpert& one : all.of_layer(layer)) read.push_back(one.expert);
    std::ranges::sort(read);
    figures_.experts_read += std::unique(read.begin(), read.end()) - read.begin();
  }
  figures_.expert_layers += static_cast<std::int64_t>(all.layers.size());
  figures_.expert_forwards += !all.layers.empty();
}

void TreeRunner::note_peaks() {
  figures_.peak_live = std::max(figures_.peak_live, store_->live());
  figures_.peak_garbage = std::max(figures_.peak_garbage, store_->garbage());
  figures_.peak_held = std::max(figures_.peak_held, store_->live() + store_->garbage());
  figures_.peak_reserved = std::max(figures_.peak_reserved, store_->reserved());
}

}  // namespace triescope

// KV that a model's windows or its rope make useless as the text grows: what may be given up, and
// what must be made anew.
#include <algorithm>

#include "core/decode/session_impl.h"

namespace triescope {

// The KV of everything that the placed rows see, written anew into the slots it lies in, as of a
// text longer than ModelInfo::kv_valid_until.
void Session::Impl::remake_kv(const Placement& placed) {
  struct Old {
    std::int32_t token, position, slot;
    std::vector<std::int32_t> seen;  // slots in path order, its own last
  };
  std::vector<Old> all;
  std::vector<bool> known(static_cast<std::size_t>(store->size()), false);
  for (const std::int32_t slot : placed.slots) known[static_cast<std::size_t>(slot)] = true;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::int32_t> seen = placed.prefix_slots;
    seen.insert(seen.end(), placed.own_slots.begin() + placed.own_offsets[r],
                placed.own_slots.begin() + placed.own_offsets[r + 1]);
    const std::vector<TokenId> below = tree.tokens_to(rows[r]);
    for (std::size_t p = 0; p < seen.size(); ++p) {  // nothing is out of a window yet: p = position
      auto&& is_known = known[static_cast<std::size_t>(seen[p])];
      if (is_known) continue;
      is_known = true;
      const std::size_t prompt = run.prompt.size();
      all.push_back({p < prompt ? run.prompt[p] : below[p - prompt].value,
                     static_cast<std::int32_t>(p),
                     seen[p],
                     {seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(p) + 1}});
    }
  }
  std::ranges::stable_sort(all, {}, &Old::position);
  for (std::size_t start = 0; start < all.size(); start += kPrefillChunk) {
    std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0};
    for (std::size_t i = start; i < std::min(start + kPrefillChunk, all.size()); ++i) {
      tokens.push_back(all[i].token);
      positions.push_back(all[i].position);
      slots.push_back(all[i].slot);
      own.insert(own.end(), all[i].seen.begin(), all[i].seen.end());
      offsets.push_back(static_cast<std::int32_t>(own.size()));
    }
    model.forward({.tokens = tokens,
                   .positions = positions,
                   .slots = slots,
                   .prefix_slots = {},
                   .own_slots = own,
                   .own_offsets = offsets,
                   .logit_rows = {},
                   .text_length = model.info().kv_valid_until + 1},
                  store->storage(), stop.get_token());
  }
}

// A row at position i sees nothing at i - kv_window and before, and those to come are at the
// frontier's positions or beyond.
std::int32_t Session::Impl::horizon_of(std::span<const NodeId> next) const {
  const ModelInfo& info = model.info();
  if (info.kv_window == 0 || next.empty() || (info.kv_valid_until > 0 && !outgrown)) return horizon;
  std::int32_t first = tree.position(next.front());
  for (const NodeId id : next) first = std::min(first, tree.position(id));
  return std::max(horizon, first - info.kv_window + 1);
}

}  // namespace triescope

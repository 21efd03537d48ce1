// Which nodes of a token tree are drawn, and as what: dead branches that died a while ago are left
// out (their parent carries the count), and of many withdrawn drafts all but a few; long stretches in
// which no branch begins or ends become one item per path. Pure: no drawing. The same arguments give
// the same items.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

enum class FoldMode : std::uint8_t {
  kAuto,  // large tries fold, small ones do not
  kAll,   // every dead branch and every long stretch
  kNone,
};

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  std::unordered_set<std::int32_t> closed;  // nodes whose subtree the user folded away
  std::unordered_set<std::int32_t> opened;  // nodes whose hidden children, or run, the user wants
};

struct TrieItem {
  std::int32_t node = 0;
  std::int32_t parent = -1;  // item
  std::int32_t run = 1;      // nodes of one path drawn as this item; `node` is the first
  std::int32_t last = 0;     // the run's last node
  std::int32_t hidden_dead = 0, hidden_other = 0;  // nodes below that are not drawn
};

// `states[i]`: of node i at the cursor. Items are in the order of their nodes, parents first.
std::vector<TrieItem> fold_trie(std::span<const capture::NodeRow> nodes,
                                std::span<const capture::NodeState> states, std::int32_t shown_step,
                                const FoldOptions& options);

}  // namespace triescope::viz

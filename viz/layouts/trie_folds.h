// Which nodes of a token tree are drawn, and as what. Dead branches that died a while ago are left
// out (their parent carries the count), and so are most of many withdrawn drafts. Long stretches in
// which no branch begins or ends become one item per path. Pure: no drawing. The same arguments
// give the same items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// A run with this many withdrawn drafts shows few of them where it folds.
inline constexpr std::ptrdiff_t kManyWithdrawn = 60;

enum class FoldMode : std::uint8_t {
  kAuto,  // large tries fold, small ones do not
  kAll,   // every dead branch and every long stretch
  kNone,
};

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  std::unordered_set<std::int32_t> closed;  // nodes whose subtree the user folded away
  // nodes whose hidden children, or run, the user wants to see
  std::unordered_set<std::int32_t> opened;
  bool withdrawn = true;  // withdrawn drafts are drawn as `mode` says; false: never
};

struct TrieItem {
  std::int32_t node = 0;
  std::int32_t parent = -1;  // item
  std::int32_t run = 1;      // nodes of one path drawn as this item; `node` is the first
  std::int32_t last = 0;     // the run's last node
  std::int32_t hidden_dead = 0, hidden_other = 0;  // nodes below that are not drawn
};

// `states[i]` is the state of node i at the cursor. Items are in the order of their nodes, parents
// first.
std::vector<TrieItem> fold_trie(std::span<const capture::NodeRow> nodes,
                                std::span<const capture::NodeState> states, std::int32_t shown_step,
                                const FoldOptions& options);

// Only the nodes of some steps, [first, last], and the way to them. Stretches of ancestors in which
// no branch begins are one item per path, and of many withdrawn drafts one below each parent
// remains. If these steps hung nothing yet, the newest earlier steps that did are shown.
std::vector<TrieItem> section_of_trie(std::span<const capture::NodeRow> nodes,
                                      std::span<const capture::NodeState> states,
                                      std::pair<std::int32_t, std::int32_t> steps);

}  // namespace triescope::viz

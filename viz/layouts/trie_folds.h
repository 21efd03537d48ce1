// Which nodes of a token tree are drawn, and as what: dead branches that died a while ago are left
// out (their parent carries the count), and of many withdrawn drafts and probes all but a few; long stretches in
// which no branch begins or ends become one item per path. Pure: no drawing. The same arguments give
// the same items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The target does not verify it: a withdrawn draft or a probe.
constexpr bool is_unverified(capture::NodeState state) {
  return state == capture::NodeState::kWithdrawn || state == capture::NodeState::kProbe;
}
// A run with so many such nodes shows few of them where it folds.
inline constexpr std::ptrdiff_t kManyUnverified = 60;

enum class FoldMode : std::uint8_t {
  kAuto,  // large tries fold, small ones do not
  kAll,   // every dead branch and every long stretch
  kNone,
};

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  std::unordered_set<std::int32_t> closed;  // nodes whose subtree the user folded away
  std::unordered_set<std::int32_t> opened;  // nodes whose hidden children, or run, the user wants
  bool unverified = true;                   // such nodes are drawn, as `mode` says; else never
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

// The nodes of some steps alone, [first, last], and the way to them: stretches of ancestors in which no
// branch begins are one item per path; of many withdrawn drafts and probes one below each parent. Where these steps hung
// nothing yet, the newest before them that did.
std::vector<TrieItem> section_of_trie(std::span<const capture::NodeRow> nodes,
                                      std::span<const capture::NodeState> states,
                                      std::pair<std::int32_t, std::int32_t> steps);

}  // namespace triescope::viz

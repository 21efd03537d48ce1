// TrieShape: the content of the trie's picture at a cursor: the items that folding leaves, with
// rows, columns, states, ranks and labels. It depends only on capture, cursor and folds. It is
// rebuilt only when one of them changes, and extended where the tree only grew. In a steady scene
// every item keeps its row and its column for good. Sizes in em.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_marks.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/trie_folds.h"
#include "viz/layouts/trie_layout.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// "prompt, 21 tokens", the caption of the root.
std::string prompt_caption(const capture::Capture& capture);

// Columns and rows of some items, both ends included.
struct TrieCells {
  std::int32_t first_column = INT32_MAX, last_column = -1, first_row = INT32_MAX, last_row = -1;
  void add(std::int32_t column, std::int32_t row);
};

class TrieShape {
 public:
  static constexpr float kCaptionEm = 0.74f;  // letters of a caption below a box
  // In em, at zoom 1.
  static constexpr float kMinChipEm = 1.7f, kGutterEm = 2.0f;
  static constexpr float kTailEm = 7.2f;  // room behind the last column for rank and Σ log p

  // `fold_version` changes whenever `folds` does.
  void update(Canvas& canvas, const Scene& scene, const FoldOptions& folds, int fold_version);

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  const capture::Capture* capture() const { return capture_; }
  std::size_t node_count() const { return node_count_; }
  const std::vector<TrieItem>& items() const { return items_; }
  const TrieLayout& layout() const { return layout_; }  // of the items
  const std::vector<float>& column_x() const { return column_x_; }
  float width() const { return width_; }
  // The width at the end of the run, in a steady scene; 0 = not known, because the run goes on.
  float whole_width() const { return whole_width_; }
  // Nodes before the cursor without an item: those of other steps, where a figure is limited to
  // some.
  std::int32_t left_out() const { return left_out_; }
  std::int32_t end_column() const { return end_column_; }  // the last with live or pending nodes
  // The cells of the step shown: nodes it added or has yet to decide, their parents, and the live
  // leaves.
  const TrieCells& step_cells() const { return step_cells_; }
  // The cells of the live leaves, and of the path that led to them in this step.
  const TrieCells& kept_cells() const { return kept_cells_; }
  // Whether an item belongs to the step, by item.
  const std::vector<char>& in_step() const { return in_step_; }
  // True if an item was added, or its state changed, in the part of the run that the scene lights.
  bool is_lit(const TrieItem& item) const {
    return index(item.last) < changed_.size() && changed_[index(item.last)] != 0;
  }
  const std::unordered_map<std::int32_t, float>& chip_width() const { return chip_width_; }

  std::uint64_t version() const { return version_; }  // changes whenever anything here does
  // Nodes that a branch forced.
  const std::vector<std::int32_t>& forced() const { return forced_; }

  // By node id.
  const std::vector<capture::NodeState>& states() const { return states_; }
  bool any_withdrawn() const { return any_withdrawn_; }
  bool any_probes() const { return any_probes_; }
  bool any_drafts() const { return any_drafts_; }
  bool has_beams() const { return has_beams_; }  // the run's method keeps and prunes beams
  // Final scores of finished hypotheses that were not returned, by last node; NaN = none.
  const std::unordered_map<std::int32_t, float>& finished() const { return finished_; }
  std::int32_t best_leaf() const { return best_; }                   // item; -1 = none
  const std::vector<std::int32_t>& ranks() const { return ranks_; }  // of the best live leaf below
  const std::unordered_map<std::int32_t, std::int32_t>& frontier() const { return frontier_; }
  // Nodes that this step's forward has read.
  const std::unordered_set<std::int32_t>& current() const { return current_; }

  std::string label_of(const TrieItem& item, const Scene& scene) const;
  Color color_of(std::int32_t node, const Scene& scene) const;
  bool contains(const TrieItem& item, std::int32_t node) const;  // the node, or one of its run
  // The gravest mark of the item's nodes.
  capture::RowMark fault_of(const TrieItem& item, const Scene& scene) const;

 private:
  float width_of(Canvas& canvas, const TrieItem& item, const Scene& scene);
  void lay_out(std::vector<TrieItem> items);
  void lay_out_for_good(std::vector<TrieItem> items);
  void look_at_step(std::int32_t step);
  void look_at_sources(std::span<const capture::NodeRow> nodes);

  // The cursor, capture and folds that it was built for.
  const capture::Capture* capture_ = nullptr;
  capture::Tick cursor_ = -1;
  std::size_t node_count_ = 0;
  std::int64_t sequences_ = 0;
  int fold_seen_ = -1;
  StepRange section_;  // steps
  float em_ = 0;
  std::uint64_t version_ = 0;

  std::vector<capture::NodeState> states_;
  bool any_withdrawn_ = false, any_probes_ = false, any_drafts_ = false, has_beams_ = false;
  std::vector<std::int32_t> forced_;
  // Results for the first `looked_at_` nodes, which are not looked at again: forced nodes, the
  // first draft.
  std::size_t looked_at_ = 0;
  std::vector<std::int32_t> all_forced_;
  std::int32_t first_draft_ = INT32_MAX;
  std::unordered_map<std::int32_t, float> finished_;
  std::int32_t best_ = -1;
  std::vector<std::int32_t> ranks_;                          // -1 = none
  std::unordered_map<std::int32_t, std::int32_t> frontier_;  // node -> rank
  std::unordered_set<std::int32_t> current_;
  std::vector<TrieItem> items_;
  std::vector<char> late_;
  TrieLayout layout_;
  bool in_lanes_ = false;  // the layout is a steady scene's
  std::vector<float> column_x_;
  float width_ = 0, whole_width_ = 0;
  std::int32_t end_column_ = 0, left_out_ = 0;
  TrieCells step_cells_, kept_cells_;
  std::vector<char> in_step_;
  capture::Tick lit_from_ = -1;
  std::vector<char> changed_;                           // by node; empty = nothing is lit
  std::unordered_map<std::int32_t, float> chip_width_;  // by token
  std::vector<float> node_width_;                       // by node; 0 = not known yet
};

}  // namespace triescope::viz

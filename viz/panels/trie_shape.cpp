#include "viz/panels/trie_shape.h"

#include <algorithm>
#include <numeric>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/layouts/trie_lanes.h"
#include "viz/query/beam_decision.h"
#include "viz/query/changes.h"
#include "viz/query/leaves.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr int kLabelChars = 16, kRunChars = 26, kPromptChars = 20;

std::string token_tail(const std::string& text, std::size_t chars) {
  std::size_t at = text.size();
  for (std::size_t n = 0; at > 0 && n < chars; ++n) {
    --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  }
  return text.substr(at);
}

std::string prompt_tail(const capture::Capture& capture, std::size_t chars) {
  const auto& prompt = capture.run().prompt_tokens;
  std::string bytes;
  std::size_t first = prompt.size();
  for (; first > 0 && bytes.size() < chars * 3; --first)
    bytes = std::string(capture.piece(prompt[first - 1])) + bytes;
  const std::string shown = token_text(bytes, 100000), tail = token_tail(shown, chars);
  return first > 0 || tail.size() < shown.size() ? "…" + tail : tail;
}

std::vector<std::int32_t> parents_of(const std::vector<TrieItem>& items) {
  std::vector<std::int32_t> parents;
  parents.reserve(items.size());
  for (const TrieItem& item : items) parents.push_back(item.parent);
  return parents;
}

}  // namespace

std::string prompt_caption(const capture::Capture& capture) {
  return "prompt, " + counted(capture.run().prompt_tokens.size(), "token");
}

void TrieCells::add(std::int32_t column, std::int32_t row) {
  first_column = std::min(first_column, column);
  last_column = std::max(last_column, column);
  first_row = std::min(first_row, row);
  last_row = std::max(last_row, row);
}

void TrieShape::update(Canvas& canvas, const Scene& scene, const FoldOptions& folds,
                       int fold_version) {
  const capture::Capture& capture = *scene.capture;
  const auto nodes = capture.nodes_at(scene.cursor);
  const auto sequences = capture.counts().sequences;
  if (scene.em != em_) {
    chip_width_.clear();
    node_width_.clear();
    em_ = scene.em;
    fold_seen_ = -1;
  }
  const auto section = scene.export_mode && !scene.series ? scene.range : decltype(scene.range){};
  if (&capture == capture_ && scene.cursor == cursor_ && nodes.size() == node_count_ &&
      sequences == sequences_ && fold_version == fold_seen_ && scene.lit_from == lit_from_ &&
      section == section_)
    return;
  if (&capture != capture_) {
    chip_width_.clear();
    node_width_.clear();
    items_.clear();
    all_forced_.clear();
    looked_at_ = 0;
    first_draft_ = INT32_MAX;
    has_beams_ = searches_beams(capture);
  }
  capture_ = &capture;
  cursor_ = scene.cursor;
  node_count_ = nodes.size();
  sequences_ = sequences;
  fold_seen_ = fold_version;
  lit_from_ = scene.lit_from;
  section_ = section;
  changed_ =
      scene.lights() ? changed_nodes(capture, scene.lit_from, scene.cursor) : std::vector<char>();

  states_ = capture.states_at(scene.cursor);
  // A legend with all entries from the beginning does not push the tree down later.
  const std::vector<NodeState> last_states =
      scene.steady ? capture.states_at(capture.end_tick()) : std::vector<NodeState>();
  const std::vector<NodeState>& seen = scene.steady ? last_states : states_;
  any_withdrawn_ = std::ranges::count(seen, NodeState::kWithdrawn) > 0;
  any_probes_ = std::ranges::count(seen, NodeState::kProbe) > 0;
  ++version_;
  look_at_sources(nodes);
  if (scene.steady) any_drafts_ = std::ranges::any_of(capture.nodes(), capture::is_draft);
  ranks_.assign(nodes.size(), -1);
  frontier_.clear();
  for (const Leaf& row : leaves_at(capture, scene.cursor)) {
    frontier_.try_emplace(row.node, row.rank);
    for (std::int32_t node = row.node; node >= 0 && ranks_[index(node)] < 0;
         node = nodes[index(node)].parent)
      ranks_[index(node)] = row.rank;
  }
  finished_.clear();
  for (const capture::SequenceRow& row : capture.sequences())
    if (row.tick < scene.cursor && row.node >= 0 && !frontier_.contains(row.node) &&
        states_[index(row.node)] == NodeState::kFinished)
      finished_.try_emplace(row.node, row.score);
  current_.clear();
  if (scene.shown_step() > 0)
    for (const capture::InputRow& row : capture.inputs(scene.shown_step()))
      if (capture::make_tick(row.step, capture::Phase::kForward) < scene.cursor)
        current_.insert(row.node);

  // Folding removes nodes and moves the rest closer, so a steady scene does not fold.
  FoldOptions options = folds;
  if (scene.steady) {
    options.mode = FoldMode::kNone;
    // Tens of unverified drafts a step would push the accepted nodes apart.
    options.unverified = std::ranges::count_if(last_states, is_unverified) < kManyUnverified;
  }
  auto items = section ? section_of_trie(nodes, states_, *section)
                       : fold_trie(nodes, states_, scene.shown_step(), options);
  left_out_ = 0;
  if (section) {
    left_out_ = static_cast<std::int32_t>(nodes.size());
    for (const TrieItem& item : items) left_out_ -= item.run;
  }
  if (scene.steady)
    lay_out_for_good(std::move(items));
  else
    lay_out(std::move(items));

  std::vector<float> widths(static_cast<std::size_t>(layout_.columns()), kMinChipEm);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    float& width = widths[index(layout_.column(static_cast<std::int32_t>(i)))];
    width = std::max(width, width_of(canvas, items_[i], scene));
  }
  whole_width_ = 0;
  if (scene.steady) {  // columns as wide as the whole run needs them
    const std::size_t columns = widths.size();
    for (const capture::NodeRow& row : capture.nodes()) {
      if (index(row.depth) >= widths.size()) widths.resize(index(row.depth) + 1, kMinChipEm);
      if (row.node == 0) continue;  // the root has its width already
      float& width = widths[index(row.depth)];
      width = std::max(width, width_of(canvas, {.node = row.node, .last = row.node}, scene));
    }
    if (capture.status() != capture::RunStatus::kRunning)
      whole_width_ = std::accumulate(widths.begin(), widths.end(), kTailEm - kGutterEm) +
                     kGutterEm * static_cast<float>(widths.size());
    widths.resize(columns);
  }
  // Finds the last column with live or pending nodes.
  end_column_ = 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (ranks_[index(items_[i].node)] >= 0 || states_[index(items_[i].node)] == NodeState::kPending)
      end_column_ = std::max(end_column_, layout_.column(static_cast<std::int32_t>(i)));
  look_at_step(scene.shown_step());
  best_ = -1;
  const auto best = std::find_if(frontier_.begin(), frontier_.end(),
                                 [](const auto& leaf) { return leaf.second == 0; });
  for (std::size_t i = 0; best != frontier_.end() && i < items_.size() && best_ < 0; ++i)
    if (items_[i].last == best->first) best_ = static_cast<std::int32_t>(i);
  column_x_.assign(widths.size() + 1, 0);
  for (std::size_t i = 0; i < widths.size(); ++i)
    column_x_[i + 1] = column_x_[i] + widths[i] + kGutterEm;
  width_ = column_x_.back() - kGutterEm + kTailEm;
}

void TrieShape::look_at_step(std::int32_t step) {
  step_cells_ = kept_cells_ = {};
  const auto add = [&](TrieCells& cells, std::int32_t item) {
    cells.add(layout_.column(item), layout_.row(item));
  };
  std::vector<char> is_new(items_.size(), 0);
  in_step_.assign(items_.size(), 0);
  for (std::size_t i = 1; i < items_.size(); ++i) {
    is_new[i] = capture::step_of(capture_->nodes()[index(items_[i].last)].tick) == step ||
                states_[index(items_[i].node)] == NodeState::kPending;
    if (!is_new[i]) continue;
    in_step_[i] = in_step_[index(items_[i].parent)] = 1;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!frontier_.contains(items_[i].last)) continue;
    auto item = static_cast<std::int32_t>(i);
    in_step_[i] = 1;
    add(kept_cells_, item);
    while (is_new[index(item)]) add(kept_cells_, item = items_[index(item)].parent);
  }
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (in_step_[i]) add(step_cells_, static_cast<std::int32_t>(i));
}

// Extends the layout where the tree only grew; rebuilds it where something died or went away.
void TrieShape::lay_out(std::vector<TrieItem> items) {
  std::vector<char> late(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) late[i] = is_dead(states_[index(items[i].node)]);
  const std::size_t before = items_.size();
  bool grew = !in_lanes_ && before > 0 && before <= items.size() &&
              (items.size() - before) * 4 < items.size();
  for (std::size_t i = 0; grew && i < before; ++i)
    grew = items[i].node == items_[i].node && items[i].parent == items_[i].parent &&
           items[i].run == items_[i].run && late[i] == late_[i];
  for (std::size_t i = before; grew && i < items.size(); ++i)
    grew = layout_.append(items[i].parent, late[i] != 0);
  if (!grew) layout_.build(parents_of(items), late);
  late_ = std::move(late);
  items_ = std::move(items);
  in_lanes_ = false;
}

// Gives every item the row that it keeps to the end of the run. A finished hypothesis has its final
// score behind it.
void TrieShape::lay_out_for_good(std::vector<TrieItem> items) {
  const std::vector<NodeState> states = capture_->states_at(capture_->end_tick());
  std::vector<std::int64_t> births(items.size());
  std::vector<std::int32_t> behind(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    births[i] = capture_->nodes()[index(items[i].node)].tick;
    behind[i] = states[index(items[i].last)] == NodeState::kFinished ? 1 : 0;
  }
  const std::vector<std::int32_t> parents = parents_of(items);
  layout_.place(parents, trie_lanes(parents, births, behind));
  items_ = std::move(items);
  in_lanes_ = true;
}

std::string TrieShape::label_of(const TrieItem& item, const Scene& scene) const {
  const capture::Capture& capture = *scene.capture;
  if (item.node == 0) return prompt_tail(capture, kPromptChars);
  if (item.run == 1)
    return token_text(capture.piece(capture.nodes()[index(item.node)].token), kLabelChars);
  // A run shows its beginning and its end; the middle is left out.
  std::string front, back;
  std::int32_t node = item.last;
  for (int i = 0; i < 6 && node > item.node; ++i, node = capture.nodes()[index(node)].parent)
    back = std::string(capture.piece(capture.nodes()[index(node)].token)) + back;
  front = capture.piece(capture.nodes()[index(item.node)].token);
  return token_text(front, kRunChars / 2) + " … " +
         token_tail(token_text(back, 1000), kRunChars / 2);
}

// Notes forced nodes and the first draft.
void TrieShape::look_at_sources(std::span<const capture::NodeRow> nodes) {
  for (; looked_at_ < nodes.size(); ++looked_at_) {
    const capture::NodeRow& row = nodes[looked_at_];
    if (row.source == capture::Source::kForced) all_forced_.push_back(row.node);
    if (capture::is_draft(row)) first_draft_ = std::min(first_draft_, row.node);
  }
  const auto count = static_cast<std::int32_t>(nodes.size());
  forced_.assign(all_forced_.begin(),
                 std::lower_bound(all_forced_.begin(), all_forced_.end(), count));
  any_drafts_ = first_draft_ < count;
}

float TrieShape::width_of(Canvas& canvas, const TrieItem& item, const Scene& scene) {
  const bool cached = item.node != 0 && item.run == 1;
  // A steady scene also asks for nodes beyond the cursor.
  const std::size_t known_nodes = std::max(node_count_, index(item.node) + 1);
  if (node_width_.size() < known_nodes) node_width_.resize(known_nodes, 0);
  float& known = node_width_[index(item.node)];
  if (cached && known > 0) return known;
  const std::int32_t token = scene.capture->nodes()[index(item.node)].token;
  if (cached)
    if (const auto found = chip_width_.find(token); found != chip_width_.end())
      return known = found->second;
  const TextStyle style = item.node == 0 ? ui_text(scene, 0.9f) : mono_text(scene);
  float width = std::max(kMinChipEm,
                         canvas.measure(label_of(item, scene), style).x / scene.em * 1.03f + 0.9f);
  // The prompt's caption may reach into the gutter, but no further.
  if (item.node == 0)
    width = std::max(
        width,
        canvas.measure(prompt_caption(*scene.capture), dim_text(scene, kCaptionEm)).x / scene.em +
            0.3f - (kGutterEm - 0.5f));
  if (cached) chip_width_[token] = known = width;
  return width;
}

Color TrieShape::color_of(std::int32_t node, const Scene& scene) const {
  const NodeState state = states_[index(node)];
  const std::int32_t rank = ranks_[index(node)];
  if ((state == NodeState::kLive || state == NodeState::kPending) && rank >= 0)
    return scene.theme.beam(rank);
  // Ranks' colours belong to the texts in force. A hypothesis that finished earlier has none.
  if ((state == NodeState::kLive || state == NodeState::kFinished) && rank < 0 && node > 0)
    return scene.theme.text_dim;
  if (state == NodeState::kFinished) return scene.theme.beam(rank);
  return scene.theme.mark(state).color;
}

bool TrieShape::contains(const TrieItem& item, std::int32_t node) const {
  if (node == item.node) return true;
  if (item.run == 1 || node < item.node || node > item.last) return false;
  for (std::int32_t at = item.last; at > item.node; at = capture_->nodes()[index(at)].parent)
    if (at == node) return true;
  return false;
}

capture::RowMark TrieShape::fault_of(const TrieItem& item, const Scene& scene) const {
  auto gravest = capture::RowMark::kNone;
  for (std::int32_t at = item.last; at > 0; at = capture_->nodes()[index(at)].parent) {
    gravest = std::max(gravest, fault_mark(scene, at));
    if (at == item.node) break;
  }
  return gravest;
}

}  // namespace triescope::viz

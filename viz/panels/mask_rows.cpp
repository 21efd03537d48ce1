#include "viz/panels/mask_rows.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace triescope::viz {

using capture::SightFault;
using capture::SightFaultKind;
using capture::SlotState;

namespace {

// A capture knows it of the target alone.
std::int32_t window_of(const capture::Capture& capture, const capture::InputRow& row) {
  return row.whose == capture::Whose::kTarget ? capture.run().sliding_window : 0;
}

}  // namespace

bool MaskRows::update(const RowSource& source, const Scene& scene, bool slot_order) {
  const capture::Capture& capture = *scene.capture;
  // Rows are gathered once per cursor, so that frames cost pixels and not nodes.
  const Key key{&capture, source, scene.cursor, capture.counts().slots, slot_order};
  if (key == key_) return !rows.empty();
  key_ = key;
  rows.clear();
  columns.clear();
  faults.clear();
  prompt_.clear();
  shared = 0;
  fault_count = 0;
  gather_rows(source, scene);
  if (rows.empty()) return false;
  gather_columns(source, scene, slot_order);
  number_columns();
  fill_prompt(capture);
  if (scene.steady) share_columns();
  return true;
}

void MaskRows::gather_rows(const RowSource& source, const Scene& scene) {
  const capture::Capture& capture = *scene.capture;
  const std::int32_t step = scene.shown_step();
  if (capture::make_tick(step, source.forward_phase()) >= scene.cursor) return;
  const auto inputs = source.inputs(capture, step);
  const bool any = capture.rows_in("seen") > 0 && !inputs.empty();
  const auto sights =
      any ? capture.row_faults().sights(step, source.whose) : std::span<const capture::RowSight>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].node <= 0 && (!any || sights[i].faults.empty())) continue;
    rows.push_back(inputs[i]);
    faults.push_back(any ? sights[i].faults : std::vector<SightFault>());
    fault_count += faults.back().size();
  }
}

void MaskRows::gather_columns(const RowSource& source, const Scene& scene, bool slot_order) {
  const capture::Capture& capture = *scene.capture;
  const capture::Tick forward = capture::make_tick(scene.shown_step(), source.forward_phase());
  // These nodes hold KV while the forward runs. The commit after it may already have freed some.
  std::vector<std::pair<std::int32_t, std::int32_t>> found;  // (slot, node)
  for (std::int32_t slot = 0; slot < source.slot_count_at(capture, forward + 1); ++slot) {
    const capture::SlotView view = source.slot_at(capture, slot, forward + 1);
    if (view.state != SlotState::kFree && view.node > 0) found.emplace_back(slot, view.node);
  }
  for (const capture::InputRow& row : rows)
    if (row.node > 0) found.emplace_back(row.slot, row.node);
  // Rows may also see what was freed.
  bool any_unwritten = false;
  for (const auto& of_row : faults)
    for (const SightFault& fault : of_row) {
      any_unwritten |= fault.kind == SightFaultKind::kUnwritten;
      if (fault.occupant > 0) found.emplace_back(fault.slot, fault.occupant);
    }
  std::sort(found.begin(), found.end());
  // A node is one column, even in several slots (the batch policy's copies).
  std::vector<char> is_found(capture.nodes().size(), 0);
  for (const auto& [slot, node] : found) {
    char& is = is_found[static_cast<std::size_t>(node)];
    if (!is) columns.push_back(node);
    is = 1;
  }
  if (!slot_order) {
    // A node stands behind its ancestors, depth first.
    columns.clear();
    std::vector<std::int32_t> stack = {0};
    while (!stack.empty()) {
      const std::int32_t node = stack.back();
      stack.pop_back();
      if (is_found[static_cast<std::size_t>(node)]) columns.push_back(node);
      const auto children = capture.children(node);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        if (capture.nodes()[static_cast<std::size_t>(*child)].tick < scene.cursor)
          stack.push_back(*child);
    }
  }
  if (any_unwritten) columns.push_back(kUnwritten);
}

void MaskRows::make_cells(std::size_t r) const {
  constexpr std::size_t kMostCells = 1 << 24;  // a file may claim more than fits into memory
  if (cell_count_ + columns.size() > kMostCells) {
    for (auto& cells : cells_) cells = {};
    cell_count_ = 0;
  }
  cell_count_ += columns.size();
  cells_[r].assign(columns.size(), MaskCell::kHidden);
  const auto at = [&](std::int32_t column) -> MaskCell& {
    return cells_[r][static_cast<std::size_t>(column)];
  };
  const capture::Capture& capture = *key_.capture;
  const std::int32_t window = window_of(capture, rows[r]);
  const std::int32_t own = capture.position_of(rows[r].node);
  for (std::int32_t node = rows[r].node; node > 0;
       node = capture.nodes()[static_cast<std::size_t>(node)].parent) {
    if (window > 0 && own - capture.position_of(node) >= window) break;
    if (const std::int32_t column = column_of_[static_cast<std::size_t>(node)]; column >= 0)
      at(column) = node == rows[r].node ? MaskCell::kSelf : MaskCell::kAncestor;
  }
  for (const SightFault& fault : faults[r]) {
    const std::int32_t column =
        fault.kind == SightFaultKind::kUnwritten ? static_cast<std::int32_t>(columns.size()) - 1
        : fault.occupant > 0 ? column_of_[static_cast<std::size_t>(fault.occupant)]
                             : -1;
    if (column >= 0) at(column) = is_missing(fault.kind) ? MaskCell::kMissing : MaskCell::kExtra;
  }
}

// Finds each node's column. The cells of other columns are made again.
void MaskRows::number_columns() {
  column_of_.assign(key_.capture->nodes().size(), -1);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c] >= 0)
      column_of_[static_cast<std::size_t>(columns[c])] = static_cast<std::int32_t>(c);
  cells_.assign(rows.size(), {});
  cell_count_ = 0;
}

void MaskRows::fill_prompt(const capture::Capture& capture) {
  const auto prompt = static_cast<std::int32_t>(capture.run().prompt_tokens.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<Stretch>& stretches = prompt_.emplace_back();
    const std::int32_t window = window_of(capture, rows[r]);
    const std::int32_t own = capture.position_of(rows[r].node);
    const std::int32_t from = window > 0 ? std::clamp(own - window + 1, 0, prompt) : 0;
    const std::int32_t until = std::min(own + 1, prompt);  // of the prompt's own rows
    std::vector<std::pair<std::int32_t, MaskCell>> faulty;
    for (const SightFault& fault : faults[r])
      if (fault.occupant <= -2)
        faulty.emplace_back(-2 - fault.occupant,
                            is_missing(fault.kind) ? MaskCell::kMissing : MaskCell::kExtra);
    std::ranges::sort(faulty);
    const auto add = [&](std::int32_t first, std::int32_t last, MaskCell cell) {
      if (first > last) return;
      if (!stretches.empty() && stretches.back().cell == cell && stretches.back().last + 1 == first)
        stretches.back().last = last;
      else
        stretches.push_back({first, last, cell});
    };
    const auto add_asked = [&](std::int32_t first, std::int32_t last) {
      add(first, std::min(last, from - 1), MaskCell::kHidden);
      add(std::max(first, from), std::min(last, until - 1), MaskCell::kAncestor);
      add(std::max({first, from, until}), last, MaskCell::kHidden);
    };
    std::int32_t next = 0;
    for (const auto& [token, cell] : faulty) {
      if (token < next) continue;
      add_asked(next, token - 1);
      add(token, token, cell);
      next = token + 1;
    }
    add_asked(next, prompt - 1);
  }
}

// Nodes that all rows see, as the tree asks, are counted instead of shown.
void MaskRows::share_columns() {
  std::vector<char> is_shared(columns.size(), 1);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns.size(); ++c)
      is_shared[c] &= cell(r, c) == MaskCell::kAncestor;
  std::size_t kept = 0;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!is_shared[c]) columns[kept++] = columns[c];
  shared = static_cast<std::int32_t>(columns.size() - kept);
  columns.resize(kept);
  number_columns();
}

std::string mask_csv(const RowSource& source, const Scene& scene, bool slot_order) {
  MaskRows all;
  std::ostringstream out;
  const bool says_seen = scene.capture && scene.capture->rows_in("seen") > 0;
  // A target's step has one forward. Where a step has several, each numbers its rows from 0.
  out << "step," << (source.is_target() ? "" : "forward,")
      << "row,node,position,slot,sees_prompt,visible_nodes" << (says_seen ? ",seen,expected" : "")
      << '\n';
  if (!scene.capture || scene.shown_step() < 0) return out.str();
  const capture::Capture& capture = *scene.capture;
  const auto begin = [&](const capture::InputRow& row, const std::string& node) {
    out << row.step << ',';
    if (!source.is_target()) out << row.forward << ',';
    out << row.row << ',' << node << ',' << row.position << ',' << row.slot << ',';
  };
  const auto end = [&](const capture::InputRow& row) {
    if (says_seen) {
      const capture::SeenRow* const seen = capture.seen(row);
      const std::string asked = capture::runs_text(capture.row_faults().asked_slots(row));
      out << ',' << (seen ? capture::runs_text(seen->slots) : "") << ',' << asked;
    }
    out << '\n';
  };
  const bool any = all.update(source, scene, slot_order);
  // The prompt's rows that are as asked are listed only if there are no others.
  if (!any) {
    if (capture::make_tick(scene.shown_step(), source.forward_phase()) >= scene.cursor)
      return out.str();
    for (const capture::InputRow& row : source.inputs(capture, scene.shown_step())) {
      begin(row, "");
      out << "1,";
      end(row);
    }
    return out.str();
  }
  for (std::size_t r = 0; r < all.rows.size(); ++r) {
    const capture::InputRow& row = all.rows[r];
    begin(row, row.node > 0 ? std::to_string(row.node) : "prompt " + std::to_string(-2 - row.node));
    const auto stretches = all.prompt(r);
    out << std::ranges::any_of(stretches, [](const auto& one) {
      return one.first == 0 && (one.cell == MaskCell::kAncestor || one.cell == MaskCell::kExtra);
    }) << ',';
    bool first = true;
    for (std::size_t c = 0; c < all.columns.size(); ++c) {
      const MaskCell cell = all.cell(r, c);
      if (all.columns[c] < 0 || cell == MaskCell::kHidden || cell == MaskCell::kMissing) continue;
      out << (first ? "" : " ") << all.columns[c];
      first = false;
    }
    end(row);
  }
  return out.str();
}

}  // namespace triescope::viz

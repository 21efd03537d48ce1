#include "viz/panels/mask_rows.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace triescope::viz {

using capture::SlotState;

bool MaskRows::update(const RowSource& source, const Scene& scene, bool slot_order) {
  const capture::Capture& capture = *scene.capture;
  const std::int32_t step = scene.shown_step();
  const capture::Tick forward = capture::make_tick(step, source.forward_phase());
  // Frames cost pixels, not nodes: gathered once per cursor.
  const Key key{&capture, source, scene.cursor, capture.counts().slots, slot_order};
  if (key == key_) return !rows.empty();
  key_ = key;
  rows.clear();
  columns.clear();
  shared = 0;
  if (forward < scene.cursor)
    for (const capture::InputRow& row : source.inputs(capture, step))
      if (row.node > 0) rows.push_back(row);
  if (rows.empty()) return false;
  // What holds KV while the forward runs: after it, the commit may already have freed some.
  std::vector<std::pair<std::int32_t, std::int32_t>> found;  // (slot, node)
  for (std::int32_t slot = 0; slot < source.slot_count_at(capture, forward + 1); ++slot) {
    const capture::SlotView view = source.slot_at(capture, slot, forward + 1);
    if (view.state != SlotState::kFree && view.node > 0) found.emplace_back(slot, view.node);
  }
  for (const capture::InputRow& row : rows) found.emplace_back(row.slot, row.node);
  std::sort(found.begin(), found.end());
  // A node may lie in several slots (the batch policy's copies): it is one column.
  std::vector<char> seen(capture.nodes().size(), 0);
  for (const auto& [slot, node] : found) {
    char& is_seen = seen[static_cast<std::size_t>(node)];
    if (!is_seen) columns.push_back(node);
    is_seen = 1;
  }
  const auto is_shared = [&](std::int32_t node) {
    return std::ranges::all_of(rows, [&](const capture::InputRow& row) {
      return row.node != node && capture.visible(row, node);
    });
  };
  const auto merge = [&] {
    if (scene.steady) shared = static_cast<std::int32_t>(std::erase_if(columns, is_shared));
    return true;
  };
  if (slot_order) return merge();
  // Depth first: a node stands behind its ancestors.
  columns.clear();
  std::vector<std::int32_t> stack = {0};
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    if (seen[static_cast<std::size_t>(node)]) columns.push_back(node);
    const auto children = capture.children(node);
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      if (capture.nodes()[static_cast<std::size_t>(*child)].tick < scene.cursor)
        stack.push_back(*child);
  }
  return merge();
}

std::string mask_csv(const RowSource& source, const Scene& scene, bool slot_order) {
  MaskRows all;
  std::ostringstream out;
  // A target's step has one forward; of several each numbers its rows from 0.
  const auto forward = [&](const capture::InputRow& row) {
    return source.is_target() ? std::string() : std::to_string(row.forward) + ",";
  };
  out << "step," << (source.is_target() ? "" : "forward,")
      << "row,node,position,slot,sees_prompt,visible_nodes\n";
  if (!scene.capture || scene.shown_step() < 0) return out.str();
  if (!all.update(source, scene, slot_order)) {
    if (capture::make_tick(scene.shown_step(), source.forward_phase()) >= scene.cursor)
      return out.str();
    for (const capture::InputRow& row : source.inputs(*scene.capture, scene.shown_step()))
      out << row.step << ',' << forward(row) << row.row << ",," << row.position << ',' << row.slot
          << ",1,\n";
    return out.str();
  }
  for (const capture::InputRow& row : all.rows) {
    out << row.step << ',' << forward(row) << row.row << ',' << row.node << ',' << row.position
        << ',' << row.slot << ',' << scene.capture->visible(row, -2) << ',';
    bool first = true;
    for (const std::int32_t node : all.columns) {
      if (node != row.node && !scene.capture->visible(row, node)) continue;
      out << (first ? "" : " ") << node;
      first = false;
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace triescope::viz

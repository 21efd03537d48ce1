#include "viz/panels/trie_panel.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/look/drawing.h"
#include "viz/look/node_text.h"
#include "viz/panels/panels.h"
#include "viz/words/number_text.h"
#include "viz/words/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kMergePx = 3;  // marks closer than this become one

// Of several marks on one spot, the one that matters is drawn.
int weight(NodeState state, std::int32_t rank) {
  if (rank >= 0) return 1000 - std::min(rank, 900);
  if (state == NodeState::kFinished) return 60;
  if (state == NodeState::kPending) return 50;
  return is_dead(state) ? 0 : 40;
}

std::vector<LegendEntry> legend_of(const Scene& scene) {
  const bool drafts = std::any_of(scene.capture->steps().begin(), scene.capture->steps().end(),
                                  [](const capture::StepRow& row) { return row.drafted > 0; });
  std::vector<LegendEntry> entries;
  const auto add = [&](NodeState state) {
    const Mark mark = scene.theme.mark(state);
    entries.push_back({std::string(mark.word), mark.color, mark.glyph});
  };
  if (drafts) {
    for (const NodeState state :
         {NodeState::kAccepted, NodeState::kRejected, NodeState::kBonus, NodeState::kPending})
      add(state);
  } else {
    entries.push_back({"beam, best first", scene.theme.beam(0), "#"});
    for (const NodeState state : {NodeState::kPruned, NodeState::kFinished}) add(state);
  }
  if (scene.twins) entries.push_back({"the other run differs", scene.theme.difference, "≠"});
  return entries;
}

}  // namespace

const PanelInfo& TriePanel::info() const {
  static const PanelInfo info = {
      "trie", "Trie",
      "The token tree: a column is a position, a line a path, its width the token's "
      "probability. Beams carry their rank, dead branches their mark and their gap to the "
      "survivors. Drag to move, wheel or W/S to zoom, F to fit and to follow again; double-click "
      "folds a subtree or opens what is folded.",
      "No tree yet: step once (F10) to run the prefill."};
  return info;
}

void TriePanel::draw(Canvas& canvas, Rect area, const Scene& scene) {
  chips_.clear();
  mode_button_ = {};
  if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
    return draw_empty_state(canvas, area, info().empty, scene);
  shape_.update(canvas, scene, folds_, fold_version_);
  body_ = draw_header(canvas, area, scene);
  canvas.push_clip(body_);
  draw_body(canvas, scene);
  canvas.pop_clip();
}

Point TriePanel::extent(Canvas& canvas, const Scene& scene) const {
  if (!scene.capture) return {scene.em * 30, scene.em * 8};
  TrieShape all;
  all.update(canvas, scene, folds_, fold_version_);
  return {(all.width() + 2 * kMarginEm) * scene.em,
          (static_cast<float>(all.layout().rows()) * kRowEm + 2 * kMarginEm + 2) * scene.em};
}

std::string TriePanel::csv(const Scene& scene) const {
  std::ostringstream out;
  out << "node,parent,token,text,depth,position,logprob,score,q,source,state,beam_rank,slot\n";
  if (!scene.capture) return out.str();
  for (const capture::NodeRow& row : scene.capture->nodes_at(scene.cursor)) {
    const capture::NodeView view = scene.capture->node_at(row.node, scene.cursor);
    const auto number = [](float value) {
      return std::isnan(value) ? std::string() : csv_number(value);
    };
    out << row.node << ',' << row.parent << ',' << row.token << ','
        << csv_field(row.node == 0 ? "" : plain_text(scene.capture->piece(row.token))) << ','
        << row.depth << ','
        << (row.node == 0 ? std::string() : std::to_string(node_position(scene, row.node))) << ','
        << number(view.row.logprob) << ',' << number(view.row.score) << ',' << number(row.q) << ','
        << capture::to_string(row.source) << ',' << capture::to_string(view.state) << ','
        << view.beam_rank << ',' << view.slot << '\n';
  }
  return out.str();
}

Rect TriePanel::draw_header(Canvas& canvas, Rect area, const Scene& scene) {
  const float em = scene.em, pad = em * 0.6f;
  static constexpr const char* kModes[] = {"folds: auto", "folds: all", "folds: none"};
  float right = area.right() - pad;
  if (!scene.export_mode && area.w > em * 20) {
    const std::string label = kModes[static_cast<std::size_t>(folds_.mode)];
    mode_button_ = draw_button(canvas, {right, area.y + em * 0.2f}, label, scene);
    right = mode_button_.x - pad;
  }
  const float legend = draw_legend(canvas, {area.x + pad, area.y + em * 0.2f}, right - area.x - pad,
                                   legend_of(scene), scene, nullptr, legend_rows(area, scene));
  const float top = legend + em * 0.4f;
  return {area.x, area.y + top, area.w, std::max(1.0f, area.h - top)};
}

// The items of a column with rows in [top, bottom], and one more on either side, whose edges may
// cross.
template <class Visit>
void TriePanel::for_rows(std::int32_t column, std::int32_t top, std::int32_t bottom,
                         Visit visit) const {
  const auto items = shape_.layout().column_items(column);
  auto at = std::lower_bound(
      items.begin(), items.end(), top,
      [&](std::int32_t item, std::int32_t row) { return shape_.layout().row(item) < row; });
  if (at != items.begin()) --at;
  for (; at != items.end(); ++at) {
    visit(*at);
    if (shape_.layout().row(*at) > bottom) break;
  }
}

void TriePanel::draw_body(Canvas& canvas, const Scene& scene) {
  const float em = scene.em;
  // The best live leaf stays in sight.
  const auto rows = static_cast<float>(shape_.layout().rows());
  float end_x = shape_.width() * em, end_row = rows / 2;
  std::int32_t best = -1;
  for (std::size_t i = shape_.items().size(); i-- > 0;)
    if (const auto found = shape_.frontier().find(shape_.items()[i].last);
        found != shape_.frontier().end() && found->second == 0)
      best = static_cast<std::int32_t>(i);
  if (best >= 0) {
    end_x = (shape_.column_x()[index(shape_.end_column()) + 1] - kGutterEm + kTailEm) * em;
    end_row = static_cast<float>(shape_.layout().row(best)) + 0.5f;
  }
  TrieView whole;
  whole.mode = TrieView::Mode::kFit;
  TrieView& view = scene.export_mode ? whole : view_;
  view.place(body_, shape_.width() * em, rows, kRowEm * em, end_x, end_row, kMarginEm * em);
  if (scene.export_mode) {
    view_.drawn = whole.drawn;
    view_.drawn_zoom = whole.drawn_zoom;
    view_.drawn_pitch = whole.drawn_pitch;
  }
  unit_ = em * view_.drawn_zoom;
  path_.clear();
  for (std::int32_t node = scene.focus.node();
       node > 0 && node < static_cast<std::int32_t>(shape_.node_count());
       node = scene.capture->nodes()[index(node)].parent)
    path_.insert(node);
  if (!path_.empty()) path_.insert(0);

  // Binary search in x: column c is at [column_x[c], column_x[c + 1] - gutter).
  const float left = -view_.drawn.x / unit_, right = (body_.w - view_.drawn.x) / unit_;
  const auto begin = static_cast<std::int32_t>(
      std::upper_bound(shape_.column_x().begin(), shape_.column_x().end(), left) -
      shape_.column_x().begin());
  const std::int32_t first = std::max(0, begin - 1);
  std::int32_t last = first;
  while (last < shape_.layout().columns() && shape_.column_x()[index(last)] < right) ++last;
  const float pitch = view_.drawn_pitch;
  const auto top = static_cast<std::int32_t>(std::floor(-view_.drawn.y / pitch)) - 1;
  const auto bottom = static_cast<std::int32_t>(std::ceil((body_.h - view_.drawn.y) / pitch)) + 1;

  if (pitch < kMergePx || unit_ * (kMinChipEm + kGutterEm) < kMergePx)
    return draw_merged(canvas, scene, first, last, top, bottom);
  for (std::int32_t c = std::max(1, first); c < std::min(last + 1, shape_.layout().columns()); ++c)
    for (const bool dead : {true, false})  // what lives lies above
      for_rows(c, top, bottom, [&](std::int32_t item) {
        if (is_dead(shape_.states()[index(shape_.items()[index(item)].node)]) == dead)
          draw_edge(canvas, item, scene);
      });
  for (std::int32_t c = first; c < last; ++c)
    for_rows(c, top, bottom, [&](std::int32_t item) { draw_chip(canvas, item, scene); });
}

// Far away: one mark a spot of 3 px, the weightiest state; lines as they are.
void TriePanel::draw_merged(Canvas& canvas, const Scene& scene, std::int32_t first,
                            std::int32_t last, std::int32_t top, std::int32_t bottom) {
  const float pitch = view_.drawn_pitch;
  struct Spot {
    std::int32_t item = -1, count = 0;
    int weight = -1;
    float y = 0;
  };
  std::vector<Spot> spots;
  std::int32_t c = first;
  while (c < last) {
    const float x = body_.x + view_.drawn.x + shape_.column_x()[index(c)] * unit_;
    float right = x;
    const auto slots = static_cast<std::size_t>(body_.h / kMergePx) + 2;
    spots.assign(slots, {});
    do {
      right = body_.x + view_.drawn.x + shape_.column_x()[index(c) + 1] * unit_;
      for_rows(c, top, bottom, [&](std::int32_t item) {
        const float y =
            view_.drawn.y + (static_cast<float>(shape_.layout().row(item)) + 0.5f) * pitch;
        if (y < 0 || y >= body_.h) return;
        Spot& spot = spots[static_cast<std::size_t>(y / kMergePx)];
        const std::int32_t node = shape_.items()[index(item)].node;
        const int w = weight(shape_.states()[index(node)], shape_.ranks()[index(node)]) +
                      (path_.count(node) ? 5000 : 0);
        if (w > spot.weight) {
          spot.weight = w;
          spot.item = item;
          spot.y = y;
        }
        ++spot.count;
      });
      ++c;
    } while (c < last &&
             body_.x + view_.drawn.x + shape_.column_x()[index(c) + 1] * unit_ - x < kMergePx);
    for (const Spot& spot : spots) {
      if (spot.item < 0) continue;
      const std::int32_t node = shape_.items()[index(spot.item)].node;
      const bool dim = is_dead(shape_.states()[index(node)]);
      const Rect mark{x, body_.y + spot.y - kMergePx / 2,
                      std::max(2.0f, std::min(right - x, 12.0f)), kMergePx - 0.75f};
      canvas.fill_rect(mark, path_.count(node) ? scene.theme.focus
                             : dim             ? shape_.color_of(node, scene).with_alpha(0.55f)
                                               : shape_.color_of(node, scene));
      chips_.push_back({{mark.x, mark.y, mark.w, kMergePx}, spot.item, spot.count - 1});
    }
  }
}

std::unique_ptr<Panel> make_trie_panel() { return std::make_unique<TriePanel>(); }

}  // namespace triescope::viz

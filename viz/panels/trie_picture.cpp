#include "viz/panels/trie_picture.h"

#include <algorithm>
#include <cmath>

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

// The items of a column with rows in [top, bottom], and one more on either side, whose edges may
// cross.
template <class Visit>
void for_rows(const TrieShape& shape, std::int32_t column, std::int32_t top, std::int32_t bottom,
              Visit visit) {
  const auto items = shape.layout().column_items(column);
  auto at = std::lower_bound(
      items.begin(), items.end(), top,
      [&](std::int32_t item, std::int32_t row) { return shape.layout().row(item) < row; });
  if (at != items.begin()) --at;
  for (; at != items.end(); ++at) {
    visit(*at);
    if (shape.layout().row(*at) > bottom) break;
  }
}

// Far away: one mark per spot of 3 px, the weightiest state; lines as they are.
void draw_merged(Canvas& canvas, TriePicture& picture, const Scene& scene, std::int32_t first,
                 std::int32_t last, std::int32_t top, std::int32_t bottom) {
  const float pitch = picture.view.drawn_pitch;
  struct Spot {
    std::int32_t item = -1, count = 0;
    int weight = -1;
    float y = 0;
  };
  std::vector<Spot> spots;
  std::int32_t c = first;
  while (c < last) {
    const float x = picture.body.x + picture.view.drawn.x +
                    picture.shape.column_x()[TrieShape::index(c)] * picture.unit;
    float right = x;
    const auto slots = static_cast<std::size_t>(picture.body.h / kMergePx) + 2;
    spots.assign(slots, {});
    do {
      right = picture.body.x + picture.view.drawn.x +
              picture.shape.column_x()[TrieShape::index(c) + 1] * picture.unit;
      for_rows(picture.shape, c, top, bottom, [&](std::int32_t item) {
        const float y = picture.view.drawn.y +
                        (static_cast<float>(picture.shape.layout().row(item)) + 0.5f) * pitch;
        if (y < 0 || y >= picture.body.h) return;
        Spot& spot = spots[static_cast<std::size_t>(y / kMergePx)];
        const std::int32_t node = picture.shape.items()[TrieShape::index(item)].node;
        const int w = weight(picture.shape.states()[TrieShape::index(node)],
                             picture.shape.ranks()[TrieShape::index(node)]) +
                      (picture.path.count(node) ? 5000 : 0);
        if (w > spot.weight) {
          spot.weight = w;
          spot.item = item;
          spot.y = y;
        }
        ++spot.count;
      });
      ++c;
    } while (c < last && picture.body.x + picture.view.drawn.x +
                                 picture.shape.column_x()[TrieShape::index(c) + 1] * picture.unit -
                                 x <
                             kMergePx);
    for (const Spot& spot : spots) {
      if (spot.item < 0) continue;
      const std::int32_t node = picture.shape.items()[TrieShape::index(spot.item)].node;
      const bool dim = is_dead(picture.shape.states()[TrieShape::index(node)]);
      const Rect mark{x, picture.body.y + spot.y - kMergePx / 2,
                      std::max(2.0f, std::min(right - x, 12.0f)), kMergePx - 0.75f};
      canvas.fill_rect(mark, picture.path.count(node) ? scene.theme.focus
                             : dim ? picture.shape.color_of(node, scene).with_alpha(0.55f)
                                   : picture.shape.color_of(node, scene));
      picture.chips.push_back({{mark.x, mark.y, mark.w, kMergePx}, spot.item, spot.count - 1});
    }
  }
}

// What a steady view keeps in sight: the node that grows and the one before it, to the end of what
// lives; of the rows those of all live leaves and of what hangs there, from the top as far as they fit, but
// the best one's in any case. In px at zoom 1.
Rect tip_of(const TriePicture& picture, float end_x, float end_row, float em) {
  const TrieShape& shape = picture.shape;
  const std::int32_t best = shape.best_leaf();
  if (best < 0) return {0, 0, TriePicture::kMinChipEm * em, TriePicture::kRowEm * em};
  const std::int32_t before = std::max(0, shape.layout().column(best) - 1);
  const float from = shape.column_x()[TrieShape::index(before)] * em;
  const float pitch = TriePicture::kRowEm * em;
  auto top = static_cast<float>(shape.first_live_row()),
       bottom = static_cast<float>(shape.last_live_row() + 1);
  const float best_row = std::floor(end_row);
  const float fit =
      std::max(1.0f, std::floor((picture.body.h - 2 * TriePicture::kMarginEm * em) / pitch));
  if (best_row >= top + fit) top = best_row;
  bottom = std::min(bottom, top + fit);
  return {from, top * pitch, std::max(0.0f, end_x - from), (bottom - top) * pitch};
}

}  // namespace

void draw_trie(Canvas& canvas, TriePicture& picture, const Scene& scene) {
  const float em = scene.em;
  // The best live leaf stays in sight.
  const auto rows = static_cast<float>(picture.shape.layout().rows());
  float end_x = picture.shape.width() * em, end_row = rows / 2;
  if (const std::int32_t best = picture.shape.best_leaf(); best >= 0) {
    end_x = (picture.shape.column_x()[TrieShape::index(picture.shape.end_column()) + 1] -
             TriePicture::kGutterEm + TriePicture::kTailEm) *
            em;
    // However far drafts reach, the node that they hang from stays in sight, and the one before it.
    const std::int32_t column = std::max(0, picture.shape.layout().column(best) - 1);
    const float from = picture.shape.column_x()[TrieShape::index(column)] * em;
    const float room = picture.body.w - 2 * TriePicture::kMarginEm * em;
    end_x = std::min(end_x, from + std::max(0.0f, room) / picture.view.zoom);
    end_row = static_cast<float>(picture.shape.layout().row(best)) + 0.5f;
  }
  TrieView whole;
  whole.mode = scene.series ? TrieView::Mode::kFree : TrieView::Mode::kFit;
  whole.origin = {TriePicture::kMarginEm * em, TriePicture::kMarginEm * em};
  TrieView& view = scene.export_mode ? whole : picture.view;
  const float pitch = TriePicture::kRowEm * em, margin = TriePicture::kMarginEm * em;
  if (scene.steady && !scene.export_mode)
    view.place_steady(picture.body, picture.shape.width() * em, rows, pitch,
                      tip_of(picture, end_x, end_row, em), margin,
                      picture.shape.whole_width() * em);
  else
    view.place(picture.body, picture.shape.width() * em, rows, pitch, end_x, end_row, margin);
  if (scene.export_mode) {
    picture.view.drawn = whole.drawn;
    picture.view.drawn_zoom = whole.drawn_zoom;
    picture.view.drawn_pitch = whole.drawn_pitch;
  }
  picture.unit = em * picture.view.drawn_zoom;
  picture.path.clear();
  for (std::int32_t node = scene.focus.node();
       node > 0 && node < static_cast<std::int32_t>(picture.shape.node_count());
       node = scene.capture->nodes()[TrieShape::index(node)].parent)
    picture.path.insert(node);
  if (!picture.path.empty()) picture.path.insert(0);

  // Binary search in x: column c is at [column_x[c], column_x[c + 1] - gutter).
  const float left = -picture.view.drawn.x / picture.unit,
              right = (picture.body.w - picture.view.drawn.x) / picture.unit;
  const auto begin = static_cast<std::int32_t>(
      std::upper_bound(picture.shape.column_x().begin(), picture.shape.column_x().end(), left) -
      picture.shape.column_x().begin());
  const std::int32_t first = std::max(0, begin - 1);
  std::int32_t last = first;
  while (last < picture.shape.layout().columns() &&
         picture.shape.column_x()[TrieShape::index(last)] < right)
    ++last;
  const float drawn_pitch = picture.view.drawn_pitch;
  const auto top = static_cast<std::int32_t>(std::floor(-picture.view.drawn.y / drawn_pitch)) - 1;
  const auto bottom =
      static_cast<std::int32_t>(std::ceil((picture.body.h - picture.view.drawn.y) / drawn_pitch)) +
      1;

  if (drawn_pitch < kMergePx ||
      picture.unit * (TriePicture::kMinChipEm + TriePicture::kGutterEm) < kMergePx)
    return draw_merged(canvas, picture, scene, first, last, top, bottom);
  for (std::int32_t c = std::max(1, first);
       c < std::min(last + 1, picture.shape.layout().columns()); ++c)
    for (const bool dead : {true, false})  // what lives lies above
      for_rows(picture.shape, c, top, bottom, [&](std::int32_t item) {
        if (is_dead(picture.shape.states()[TrieShape::index(
                picture.shape.items()[TrieShape::index(item)].node)]) == dead)
          draw_trie_edge(canvas, picture, item, scene);
      });
  for (std::int32_t c = first; c < last; ++c)
    for_rows(picture.shape, c, top, bottom,
             [&](std::int32_t item) { draw_trie_chip(canvas, picture, item, scene); });
}

std::vector<Rect> trie_node_areas(const TriePicture& picture) {
  std::vector<Rect> areas;
  areas.reserve(picture.chips.size());
  const float caption = TrieShape::kCaptionEm * 1.4f * picture.unit;
  for (const TrieChip& chip : picture.chips) {
    Rect area = chip.area;
    area.h += caption;
    // Rank and sum stand behind the end of a text.
    const std::int32_t last = picture.shape.items()[TrieShape::index(chip.item)].last;
    if (picture.shape.frontier().contains(last) || picture.shape.finished().contains(last))
      area.w += picture.unit * TriePicture::kTailEm;
    areas.push_back(area);
  }
  return areas;
}

}  // namespace triescope::viz

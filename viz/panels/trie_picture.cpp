#include "viz/panels/trie_picture.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kMergePx = 3;        // marks closer than this become one
constexpr float kLeastZoom = 0.75f;  // of a figure; smaller letters cannot be read

// Where several marks share one spot, the weightiest is drawn.
int weight(NodeState state, std::int32_t rank) {
  if (rank >= 0) return 1000 - std::min(rank, 900);
  if (state == NodeState::kFinished) return 60;
  if (state == NodeState::kPending) return 50;
  return is_dead(state) ? 0 : 40;
}

// Visits a column's items with rows in [top, bottom], and one more on either side, whose edges may
// cross the view.
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

// Draws a far view: one mark per spot of 3 px, with the weightiest state; lines as usual.
void draw_merged(Canvas& canvas, TriePicture& picture, const Scene& scene, std::int32_t first,
                 std::int32_t last, std::int32_t top, std::int32_t bottom) {
  const float pitch = picture.view.drawn_pitch;
  struct Spot {
    std::int32_t item = -1, count = 0;
    int weight = -1;
    float y = 0;
  };
  std::vector<Spot> spots;
  const auto is_faulty = [&](std::int32_t item) {
    return picture.shape.fault_of(picture.shape.items()[TrieShape::index(item)], scene) !=
           capture::RowMark::kNone;
  };
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
                      (picture.path.count(node) ? 5000
                       : is_faulty(item)        ? 2000
                                                : 0);
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
                             : is_faulty(spot.item)   ? scene.theme.fault
                             : dim ? picture.shape.color_of(node, scene).with_alpha(0.55f)
                                   : picture.shape.color_of(node, scene));
      picture.chips.push_back({{mark.x, mark.y, mark.w, kMergePx}, spot.item, spot.count - 1});
    }
  }
}

// The area that a steady view keeps in sight, in px at zoom 1: the step's nodes and their parents.
// Where these do not fit, the accepted or kept nodes come first. Where those do not fit either, the
// best leaf's row and the rows beside it stay.
TrieView::Sight sight_of(const TriePicture& picture, float zoom, float em) {
  const TrieShape& shape = picture.shape;
  const std::int32_t best = shape.best_leaf();
  if (best < 0) {
    const Rect root{0, 0, TriePicture::kMinChipEm * em, TriePicture::kRowEm * em};
    return {root, root};
  }
  const float pitch = TriePicture::kRowEm * em;
  // A leaf alone tells nothing, so its parent is shown too.
  const bool alone = shape.step_cells().first_column == shape.step_cells().last_column;
  const auto rect_of = [&](TrieCells cells) {
    if (alone) cells.first_column = std::max(0, cells.first_column - 1);
    const float x = shape.column_x()[TrieShape::index(cells.first_column)] * em;
    // A live leaf has its rank and its sum behind it.
    const auto end = [&](std::int32_t column, float behind) {
      return (shape.column_x()[TrieShape::index(column) + 1] - TriePicture::kGutterEm + behind) *
             em;
    };
    float right = std::max(end(cells.last_column, 0),
                           end(shape.kept_cells().last_column, TriePicture::kTailEm));
    // The other nodes get the same room behind them, if the width allows it.
    if (const float wide = end(cells.last_column, TriePicture::kTailEm);
        (wide - x) * zoom <= picture.body.w - 2 * TriePicture::kMarginEm * em)
      right = std::max(right, wide);
    return Rect{x, static_cast<float>(cells.first_row) * pitch, right - x,
                static_cast<float>(cells.last_row + 1 - cells.first_row) * pitch};
  };
  TrieView::Sight sight{rect_of(shape.step_cells()), rect_of(shape.kept_cells())};
  // Where the kept nodes have too many rows, the path of the best leaf is shown as far back as it
  // fits.
  if (const float room = picture.body.h - 2 * TriePicture::kMarginEm * em;
      sight.first.h * zoom > room) {
    std::int32_t top = shape.layout().row(best), bottom = top;
    for (std::int32_t item = best; item >= 0 && shape.in_step()[TrieShape::index(item)];
         item = shape.layout().parent(item)) {
      const std::int32_t row = shape.layout().row(item);
      const std::int32_t higher = std::min(top, row), lower = std::max(bottom, row);
      if (static_cast<float>(lower + 1 - higher) * pitch * zoom > room) break;
      top = higher, bottom = lower;
    }
    sight.first.y = static_cast<float>(top) * pitch;
    sight.first.h = static_cast<float>(bottom + 1 - top) * pitch;
  }
  return sight;
}

std::string lacking_text(std::int32_t nodes) { return "+ " + counted(nodes, "node"); }

// Says below a figure how many nodes it lacks.
void draw_note(Canvas& canvas, const TriePicture& picture, const Scene& scene) {
  std::int32_t lacking = picture.shape.left_out();
  if (picture.section) {
    for (const TrieItem& item : picture.shape.items()) lacking += item.run;
    for (const TrieChip& chip : picture.chips)
      lacking -= picture.shape.items()[TrieShape::index(chip.item)].run;
  }
  if (lacking <= 0) return;
  const float em = scene.em, margin = TriePicture::kMarginEm * em;
  text_in(canvas,
          {picture.body.x + margin, picture.body.bottom(), picture.body.w - 2 * margin,
           TriePicture::kNoteEm * em},
          lacking_text(lacking), dim_text(scene), Align::kRight);
}

// Tells an audience, in the lower right corner, how much of the step is out of sight.
void draw_step_note(Canvas& canvas, const TriePicture& picture, const Scene& scene) {
  std::int32_t lacking = 0;
  for (const char one : picture.shape.in_step()) lacking += one;
  for (const TrieChip& chip : picture.chips) {
    const float middle = chip.area.x + chip.area.w / 2;
    if (picture.shape.in_step()[TrieShape::index(chip.item)] &&
        picture.body.contains({middle, chip.area.y}) &&
        picture.body.contains({middle, chip.area.bottom()}))
      --lacking;
  }
  if (lacking <= 0) return;
  const float em = scene.em;
  const TextStyle style = dim_text(scene);
  const std::string text = lacking_text(lacking) + " of this step";
  const Point size = canvas.measure(text, style);
  const Rect box{picture.body.right() - size.x - em * 1.2f, picture.body.bottom() - em * 1.7f,
                 size.x + em * 0.8f, em * 1.4f};
  canvas.fill_rect(box, scene.theme.background, em * 0.3f);
  text_in(canvas, box, text, style, Align::kCenter);
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
    // However far drafts reach, the node that they hang from and its parent stay in sight.
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
  const bool figure = scene.export_mode && !scene.series;
  bool lacks = figure && picture.shape.left_out() > 0;
  if (lacks) picture.body.h -= TriePicture::kNoteEm * em;
  picture.section = false;
  if (figure) {
    const float wide = (picture.body.w - 2 * margin) / (picture.shape.width() * em),
                high = (picture.body.h - 2 * margin) / (rows * pitch);
    if (std::min(wide, high) < kLeastZoom) {
      picture.section = true;
      whole.mode = TrieView::Mode::kFollow;
      whole.zoom = std::clamp(high, kLeastZoom, 1.0f);
      if (!lacks) picture.body.h -= TriePicture::kNoteEm * em;
      lacks = true;
    }
  }
  if ((scene.steady && !scene.export_mode) || picture.section)
    view.place_steady(picture.body, picture.shape.width() * em, rows, pitch,
                      sight_of(picture, view.zoom, em), margin,
                      (figure ? picture.shape.width() : picture.shape.whole_width()) * em);
  else
    view.place(picture.body, picture.shape.width() * em, rows, pitch, end_x, end_row, margin);
  if (scene.export_mode) {
    picture.view.drawn = whole.drawn;
    picture.view.drawn_zoom = whole.drawn_zoom;
    picture.view.drawn_pitch = whole.drawn_pitch;
  }
  picture.unit = em * picture.view.drawn_zoom;
  note_growth(picture, scene);
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

  if (lacks) canvas.push_clip(picture.body);
  if (drawn_pitch < kMergePx ||
      picture.unit * (TriePicture::kMinChipEm + TriePicture::kGutterEm) < kMergePx)
    return draw_merged(canvas, picture, scene, first, last, top, bottom);  // never in a figure
  for (std::int32_t c = std::max(1, first);
       c < std::min(last + 1, picture.shape.layout().columns()); ++c)
    for (const bool dead : {true, false})  // live nodes' edges are drawn over dead ones'
      for_rows(picture.shape, c, top, bottom, [&](std::int32_t item) {
        if (is_dead(picture.shape.states()[TrieShape::index(
                picture.shape.items()[TrieShape::index(item)].node)]) == dead)
          draw_trie_edge(canvas, picture, item, scene);
      });
  for (std::int32_t c = first; c < last; ++c)
    for_rows(picture.shape, c, top, bottom,
             [&](std::int32_t item) { draw_trie_chip(canvas, picture, item, scene); });
  if (scene.steady && !scene.export_mode) draw_step_note(canvas, picture, scene);
  if (!lacks) return;
  canvas.pop_clip();
  draw_note(canvas, picture, scene);
}

std::vector<Rect> trie_node_areas(const TriePicture& picture) {
  std::vector<Rect> areas;
  areas.reserve(picture.chips.size());
  const float caption = TrieShape::kCaptionEm * 1.4f * picture.unit;
  for (const TrieChip& chip : picture.chips) {
    Rect area = chip.area;
    area.h += caption;
    // Rank and sum stand behind a text's last node.
    const std::int32_t last = picture.shape.items()[TrieShape::index(chip.item)].last;
    if (picture.shape.frontier().contains(last) || picture.shape.finished().contains(last))
      area.w += picture.unit * TriePicture::kTailEm;
    areas.push_back(area);
  }
  return areas;
}

}  // namespace triescope::viz

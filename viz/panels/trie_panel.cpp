// Trie: the token tree, growing to the right. Tokens on the nodes, probabilities below them, beams
// by colour and number, dead branches dimmed with their mark and gap.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "viz/draw.h"
#include "viz/layouts/trie_folds.h"
#include "viz/layouts/trie_layout.h"
#include "viz/panels/panels.h"
#include "viz/panels/trie_view.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

// In em at zoom 1.
constexpr float kRowEm = 2.45f, kChipEm = 1.5f, kGutterEm = 2.0f, kMinChipEm = 1.7f;
constexpr float kMarginEm = 1.2f, kTailEm = 3.4f;  // room behind the last column: rank, counts
constexpr float kMergePx = 3;                      // marks closer than this become one
constexpr float kTextPx = 6.5f, kDetailPx = 9;     // text sizes from which labels are drawn
constexpr int kLabelChars = 16, kRunChars = 26, kPromptChars = 20;

bool is_dead(NodeState state) {
  return state == NodeState::kPruned || state == NodeState::kRejected;
}

// Of several marks on one spot, the one that matters is drawn.
int weight(NodeState state, std::int32_t rank) {
  if (rank >= 0) return 1000 - std::min(rank, 900);
  if (state == NodeState::kFinished) return 60;
  if (state == NodeState::kPending) return 50;
  return is_dead(state) ? 0 : 40;
}

class TriePanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "trie", "Trie",
        "The token tree: a column is a position, a line a path, its width the token's "
        "probability. Beams carry their rank, dead branches their mark and their gap to the "
        "survivors. Drag to move, wheel or W/S to zoom, F to fit and to follow again; double-click "
        "folds a subtree or opens what is folded.",
        "No tree yet: step once (F10) to run the prefill."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    chips_.clear();
    mode_button_ = {};
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    update(canvas, scene);
    body_ = draw_header(canvas, area, scene);
    canvas.push_clip(body_);
    draw_body(canvas, scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || items_.empty()) return reaction;
    const Point at{in.mouse.x - body_.x, in.mouse.y - body_.y};
    const Point middle{body_.w / 2, body_.h / 2};
    if (in.inside && in.wheel != 0) view_.zoom_at(at, std::pow(1.15f, in.wheel));
    if (in.zoom_in) view_.zoom_at(in.inside ? at : middle, 1.25f);
    if (in.zoom_out) view_.zoom_at(in.inside ? at : middle, 0.8f);
    if (in.pan_left) view_.move(scene.em * 6, 0);
    if (in.pan_right) view_.move(-scene.em * 6, 0);
    if (in.wheel_x != 0) view_.move(in.wheel_x * scene.em * 3, 0);
    if (in.dragging) view_.move(in.drag_delta.x, in.drag_delta.y);
    if (in.fit) view_.fit();
    if (in.previous || in.next) step_focus(in.next ? 1 : -1, scene, reaction);
    if (!in.inside) return reaction;
    reaction.hover = -1;
    if (mode_button_.contains(in.mouse)) {
      reaction.tooltip = {
          "auto: large tries leave out branches that died a while ago, and fold "
          "long stretches without branches",
          "all: every dead branch and every stretch · none: nothing is folded"};
      if (in.clicked) {
        folds_.mode = folds_.mode == FoldMode::kAuto  ? FoldMode::kAll
                      : folds_.mode == FoldMode::kAll ? FoldMode::kNone
                                                      : FoldMode::kAuto;
        ++fold_version_;
      }
      return reaction;
    }
    const Chip* chip = nullptr;
    for (auto it = chips_.rbegin(); it != chips_.rend() && !chip; ++it)
      if (it->area.contains(in.mouse)) chip = &*it;
    if (!chip) {
      if (in.clicked) reaction.lock = -1;
      return reaction;
    }
    const TrieItem& item = items_[static_cast<std::size_t>(chip->item)];
    reaction.hover = item.node;
    explain(item, chip->merged, scene, reaction.tooltip);
    if (in.clicked) reaction.lock = item.node;
    if (in.double_clicked || in.right_clicked) toggle(item);
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    if (!scene.capture) return {scene.em * 30, scene.em * 8};
    TriePanel all;
    all.folds_ = folds_;
    all.update(canvas, scene);
    return {(all.width_ + 2 * kMarginEm) * scene.em,
            (static_cast<float>(all.layout_.rows()) * kRowEm + 2 * kMarginEm + 2) * scene.em};
  }

  std::string csv(const Scene& scene) const override {
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
          << number(view.row.logprob) << ',' << number(view.row.score) << ',' << number(row.q)
          << ',' << capture::to_string(row.source) << ',' << capture::to_string(view.state) << ','
          << view.beam_rank << ',' << view.slot << '\n';
    }
    return out.str();
  }

  // "mode=auto;zoom=1;closed=3,7;opened=12"
  std::string view_state() const override {
    static constexpr const char* kModes[] = {"auto", "all", "none"};
    std::string out = std::string("mode=") + kModes[static_cast<std::size_t>(folds_.mode)] +
                      ";zoom=" + number_text(view_.zoom, 3);
    const auto list = [&](const char* key, const std::unordered_set<std::int32_t>& nodes) {
      std::vector<std::int32_t> sorted(nodes.begin(), nodes.end());
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < sorted.size(); ++i)
        out += (i ? "," : std::string(";") + key + "=") + std::to_string(sorted[i]);
    };
    list("closed", folds_.closed);
    list("opened", folds_.opened);
    return out;
  }
  void set_view_state(const std::string& state) override {
    folds_ = {};
    ++fold_version_;
    std::istringstream in(state);
    for (std::string field; std::getline(in, field, ';');) {
      const auto equals = field.find('=');
      if (equals == std::string::npos) continue;
      const std::string key = field.substr(0, equals), value = field.substr(equals + 1);
      if (key == "mode")
        folds_.mode = value == "all"    ? FoldMode::kAll
                      : value == "none" ? FoldMode::kNone
                                        : FoldMode::kAuto;
      if (key == "zoom") {
        float zoom = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), zoom);
        if (error == std::errc() && zoom >= TrieView::kMinZoom && zoom <= TrieView::kMaxZoom)
          view_.zoom = zoom;
      }
      if (key != "closed" && key != "opened") continue;
      std::istringstream numbers(value);
      for (std::int32_t node = 0; numbers >> node; numbers.ignore(1))
        (key == "closed" ? folds_.closed : folds_.opened).insert(node);
    }
  }

 private:
  struct Chip {
    Rect area;
    std::int32_t item;
    std::int32_t merged;  // further items on the same spot
  };

  // ---- what is drawn: a function of capture, cursor and folds alone ----

  void update(Canvas& canvas, const Scene& scene) {
    const capture::Capture& capture = *scene.capture;
    const auto nodes = capture.nodes_at(scene.cursor);
    const auto sequences = capture.counts().sequences;
    if (scene.em != em_) {
      chip_width_.clear();
      em_ = scene.em;
      fold_seen_ = -1;
    }
    if (&capture == capture_ && scene.cursor == cursor_ && nodes.size() == node_count_ &&
        sequences == sequences_ && fold_version_ == fold_seen_)
      return;
    if (&capture != capture_) {
      chip_width_.clear();
      items_.clear();
    }
    capture_ = &capture;
    cursor_ = scene.cursor;
    node_count_ = nodes.size();
    sequences_ = sequences;
    fold_seen_ = fold_version_;

    states_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      states_[i] = capture.state_at(static_cast<std::int32_t>(i), scene.cursor);
    ranks_.assign(nodes.size(), -1);
    frontier_.clear();
    for (const Leaf& row : leaves_at(capture, scene.cursor)) {
      frontier_.try_emplace(row.node, row.rank);
      for (std::int32_t node = row.node; node >= 0 && ranks_[index(node)] < 0;
           node = nodes[index(node)].parent)
        ranks_[index(node)] = row.rank;
    }
    current_.clear();
    if (scene.shown_step() > 0)
      for (const capture::InputRow& row : capture.inputs(scene.shown_step()))
        if (capture::make_tick(row.step, capture::Phase::kForward) < scene.cursor)
          current_.insert(row.node);

    auto items = fold_trie(nodes, states_, scene.shown_step(), folds_);
    // The layout grows where the tree only grew; it is made anew where something died or went
    // away.
    std::vector<char> late(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) late[i] = is_dead(states_[index(items[i].node)]);
    const std::size_t before = items_.size();
    bool grew = before > 0 && before <= items.size() && (items.size() - before) * 4 < items.size();
    for (std::size_t i = 0; grew && i < before; ++i)
      grew = items[i].node == items_[i].node && items[i].parent == items_[i].parent &&
             items[i].run == items_[i].run && late[i] == late_[i];
    for (std::size_t i = before; grew && i < items.size(); ++i)
      grew = layout_.append(items[i].parent, late[i] != 0);
    if (!grew) {
      std::vector<std::int32_t> parents(items.size());
      for (std::size_t i = 0; i < items.size(); ++i) parents[i] = items[i].parent;
      layout_.build(parents, late);
    }
    late_ = std::move(late);
    items_ = std::move(items);

    std::vector<float> widths(static_cast<std::size_t>(layout_.columns()), kMinChipEm);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      float& width = widths[index(layout_.column(static_cast<std::int32_t>(i)))];
      width = std::max(width, width_of(canvas, items_[i], scene));
    }
    // How far what lives, or waits to be decided, reaches.
    end_column_ = 0;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (ranks_[index(items_[i].node)] >= 0 || frontier_.count(items_[i].last) ||
          states_[index(items_[i].node)] == NodeState::kPending)
        end_column_ = std::max(end_column_, layout_.column(static_cast<std::int32_t>(i)));
    column_x_.assign(widths.size() + 1, 0);
    for (std::size_t i = 0; i < widths.size(); ++i)
      column_x_[i + 1] = column_x_[i] + widths[i] + kGutterEm;
    width_ = column_x_.back() - kGutterEm + kTailEm;
  }

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::string label_of(const TrieItem& item, const Scene& scene) const {
    const capture::Capture& capture = *scene.capture;
    if (item.node == 0) return prompt_tail(capture, kPromptChars);
    if (item.run == 1)
      return token_text(capture.piece(capture.nodes()[index(item.node)].token), kLabelChars);
    // A run reads from its beginning to its end; the middle goes.
    std::string front, back;
    std::int32_t node = item.last;
    for (int i = 0; i < 6 && node > item.node; ++i, node = capture.nodes()[index(node)].parent)
      back = std::string(capture.piece(capture.nodes()[index(node)].token)) + back;
    front = capture.piece(capture.nodes()[index(item.node)].token);
    return token_text(front, kRunChars / 2) + " … " +
           token_tail(token_text(back, 1000), kRunChars / 2);
  }
  static std::string token_tail(const std::string& text, std::size_t chars) {
    std::size_t at = text.size();
    for (std::size_t n = 0; at > 0 && n < chars; ++n) {
      --at;
      while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    }
    return text.substr(at);
  }
  static std::string prompt_tail(const capture::Capture& capture, std::size_t chars) {
    const auto& prompt = capture.run().prompt_tokens;
    std::string bytes;
    for (std::size_t i = prompt.size(); i > 0 && bytes.size() < chars * 3; --i)
      bytes = std::string(capture.piece(prompt[i - 1])) + bytes;
    return "…" + token_tail(token_text(bytes, 100000), chars);
  }

  float width_of(Canvas& canvas, const TrieItem& item, const Scene& scene) {
    const bool cached = item.node != 0 && item.run == 1;
    const std::int32_t token = scene.capture->nodes()[index(item.node)].token;
    if (cached)
      if (const auto found = chip_width_.find(token); found != chip_width_.end())
        return found->second;
    const TextStyle style = item.node == 0 ? ui_text(scene, 0.9f) : mono_text(scene);
    const float width = std::max(
        kMinChipEm, canvas.measure(label_of(item, scene), style).x / scene.em * 1.03f + 0.9f);
    if (cached) chip_width_[token] = width;
    return width;
  }

  // ---- drawing ----

  Rect draw_header(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em, pad = em * 0.6f;
    static constexpr const char* kModes[] = {"folds: auto", "folds: all", "folds: none"};
    float right = area.right() - pad;
    if (!scene.export_mode && area.w > em * 20) {
      const std::string label = kModes[static_cast<std::size_t>(folds_.mode)];
      mode_button_ = draw_button(canvas, {right, area.y + em * 0.2f}, label, scene);
      right = mode_button_.x - pad;
    }
    const float legend =
        draw_legend(canvas, {area.x + pad, area.y + em * 0.2f}, right - area.x - pad,
                    legend_of(scene), scene, nullptr, legend_rows(area, scene));
    const float top = legend + em * 0.4f;
    return {area.x, area.y + top, area.w, std::max(1.0f, area.h - top)};
  }

  static std::vector<LegendEntry> legend_of(const Scene& scene) {
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

  Color color_of(std::int32_t node, const Scene& scene) const {
    const NodeState state = states_[index(node)];
    const std::int32_t rank = ranks_[index(node)];
    if ((state == NodeState::kLive || state == NodeState::kPending) && rank >= 0)
      return scene.theme.beam(rank);
    return scene.theme.mark(state).color;
  }

  void draw_body(Canvas& canvas, const Scene& scene) {
    const float em = scene.em;
    // The best live leaf stays in sight.
    const auto rows = static_cast<float>(layout_.rows());
    float end_x = width_ * em, end_row = rows / 2;
    std::int32_t best = -1;
    for (std::size_t i = items_.size(); i-- > 0;)
      if (const auto found = frontier_.find(items_[i].last);
          found != frontier_.end() && found->second == 0)
        best = static_cast<std::int32_t>(i);
    if (best >= 0) {
      end_x = (column_x_[index(end_column_) + 1] - kGutterEm + kTailEm) * em;
      end_row = static_cast<float>(layout_.row(best)) + 0.5f;
    }
    TrieView whole;
    whole.mode = TrieView::Mode::kFit;
    TrieView& view = scene.export_mode ? whole : view_;
    view.place(body_, width_ * em, rows, kRowEm * em, end_x, end_row, kMarginEm * em);
    if (scene.export_mode) {
      view_.drawn = whole.drawn;
      view_.drawn_zoom = whole.drawn_zoom;
      view_.drawn_pitch = whole.drawn_pitch;
    }
    unit_ = em * view_.drawn_zoom;
    path_.clear();
    for (std::int32_t node = scene.focus.node();
         node > 0 && node < static_cast<std::int32_t>(node_count_);
         node = scene.capture->nodes()[index(node)].parent)
      path_.insert(node);
    if (!path_.empty()) path_.insert(0);

    // Binary search in x: column c is at [column_x_[c], column_x_[c + 1] - gutter).
    const float left = -view_.drawn.x / unit_, right = (body_.w - view_.drawn.x) / unit_;
    const auto begin = static_cast<std::int32_t>(
        std::upper_bound(column_x_.begin(), column_x_.end(), left) - column_x_.begin());
    const std::int32_t first = std::max(0, begin - 1);
    std::int32_t last = first;
    while (last < layout_.columns() && column_x_[index(last)] < right) ++last;
    const float pitch = view_.drawn_pitch;
    const auto top = static_cast<std::int32_t>(std::floor(-view_.drawn.y / pitch)) - 1;
    const auto bottom = static_cast<std::int32_t>(std::ceil((body_.h - view_.drawn.y) / pitch)) + 1;

    if (pitch < kMergePx || unit_ * (kMinChipEm + kGutterEm) < kMergePx)
      return draw_merged(canvas, scene, first, last, top, bottom);
    for (std::int32_t c = std::max(1, first); c < std::min(last + 1, layout_.columns()); ++c)
      for (const bool dead : {true, false})  // what lives lies above
        for_rows(c, top, bottom, [&](std::int32_t item) {
          if (is_dead(states_[index(items_[index(item)].node)]) == dead)
            draw_edge(canvas, item, scene);
        });
    for (std::int32_t c = first; c < last; ++c)
      for_rows(c, top, bottom, [&](std::int32_t item) { draw_chip(canvas, item, scene); });
  }

  // The items of a column with rows in [top, bottom], and one more on either side, whose edges may
  // cross.
  template <class Visit>
  void for_rows(std::int32_t column, std::int32_t top, std::int32_t bottom, Visit visit) const {
    const auto items = layout_.column_items(column);
    auto at = std::lower_bound(
        items.begin(), items.end(), top,
        [&](std::int32_t item, std::int32_t row) { return layout_.row(item) < row; });
    if (at != items.begin()) --at;
    for (; at != items.end(); ++at) {
      visit(*at);
      if (layout_.row(*at) > bottom) break;
    }
  }

  Rect chip_of(std::int32_t item) const {
    const std::int32_t column = layout_.column(item);
    const float x = column_x_[index(column)];
    const float width = column_x_[index(column) + 1] - kGutterEm - x;
    const float y = (static_cast<float>(layout_.row(item)) + 0.5f) * view_.drawn_pitch;
    return {body_.x + view_.drawn.x + x * unit_,
            body_.y + view_.drawn.y + y - (kChipEm / 2 + 0.2f) * unit_, width * unit_,
            kChipEm * unit_};
  }
  // The box itself is as wide as its text; the column gives the room.
  Rect box_of(std::int32_t item) const {
    Rect chip = chip_of(item);
    const TrieItem& it = items_[index(item)];
    if (it.node != 0 && it.run == 1) {
      const auto found = chip_width_.find(capture_->nodes()[index(it.node)].token);
      if (found != chip_width_.end()) chip.w = std::min(chip.w, found->second * unit_);
    }
    return chip;
  }

  // Far away: one mark a spot of 3 px, the weightiest state; lines as they are.
  void draw_merged(Canvas& canvas, const Scene& scene, std::int32_t first, std::int32_t last,
                   std::int32_t top, std::int32_t bottom) {
    const float pitch = view_.drawn_pitch;
    struct Spot {
      std::int32_t item = -1, count = 0;
      int weight = -1;
      float y = 0;
    };
    std::vector<Spot> spots;
    std::int32_t c = first;
    while (c < last) {
      const float x = body_.x + view_.drawn.x + column_x_[index(c)] * unit_;
      float right = x;
      const auto slots = static_cast<std::size_t>(body_.h / kMergePx) + 2;
      spots.assign(slots, {});
      do {
        right = body_.x + view_.drawn.x + column_x_[index(c) + 1] * unit_;
        for_rows(c, top, bottom, [&](std::int32_t item) {
          const float y = view_.drawn.y + (static_cast<float>(layout_.row(item)) + 0.5f) * pitch;
          if (y < 0 || y >= body_.h) return;
          Spot& spot = spots[static_cast<std::size_t>(y / kMergePx)];
          const std::int32_t node = items_[index(item)].node;
          const int w =
              weight(states_[index(node)], ranks_[index(node)]) + (path_.count(node) ? 5000 : 0);
          if (w > spot.weight) {
            spot.weight = w;
            spot.item = item;
            spot.y = y;
          }
          ++spot.count;
        });
        ++c;
      } while (c < last &&
               body_.x + view_.drawn.x + column_x_[index(c) + 1] * unit_ - x < kMergePx);
      for (const Spot& spot : spots) {
        if (spot.item < 0) continue;
        const std::int32_t node = items_[index(spot.item)].node;
        const bool dim = is_dead(states_[index(node)]);
        const Rect mark{x, body_.y + spot.y - kMergePx / 2,
                        std::max(2.0f, std::min(right - x, 12.0f)), kMergePx - 0.75f};
        canvas.fill_rect(mark, path_.count(node) ? scene.theme.focus
                               : dim             ? color_of(node, scene).with_alpha(0.55f)
                                                 : color_of(node, scene));
        chips_.push_back({{mark.x, mark.y, mark.w, kMergePx}, spot.item, spot.count - 1});
      }
    }
  }

  void draw_edge(Canvas& canvas, std::int32_t item, const Scene& scene) const {
    const TrieItem& it = items_[index(item)];
    if (it.parent < 0) return;
    const Rect from = box_of(it.parent), to = chip_of(item);
    const float column_end = chip_of(it.parent).right();
    const Point a{from.right(), from.y + from.h / 2}, b{to.x, to.y + to.h / 2};
    const NodeState state = states_[index(it.node)];
    const bool dead = is_dead(state);
    const Mark mark = scene.theme.mark(state);
    const bool on_path = path_.count(it.node) != 0;
    float logprob = scene.capture->nodes()[index(it.node)].logprob;
    if (std::isnan(logprob)) logprob = scene.capture->node_at(it.node, scene.cursor).row.logprob;
    const float p = std::isnan(logprob) ? 0.15f : std::exp(logprob);
    const float scale = std::clamp(view_.drawn_zoom, 0.5f, 2.0f) * scene.em / 14;
    const float width = (0.9f + 3.4f * p) * scale * (dead ? 0.4f : 1.0f);
    Color color = color_of(it.node, scene);
    if (dead) color = color.with_alpha(0.75f);
    if (on_path) color = scene.theme.focus;
    const LineStyle style = state == NodeState::kPending ? LineStyle::kDotted : mark.line;
    // Straight to the end of the column, so that no line runs through a wider box beside it.
    if (a.y == b.y) {
      canvas.line(a, b, color, width, style);
      return;
    }
    if (column_end > a.x + 1) canvas.line(a, {column_end + 0.5f, a.y}, color, width, style);
    const float bend = (b.x - column_end) * 0.55f;
    canvas.bezier({column_end, a.y}, {column_end + bend, a.y}, {b.x - bend, b.y}, b, color, width,
                  style);
  }

  void draw_chip(Canvas& canvas, std::int32_t item, const Scene& scene) {
    const TrieItem& it = items_[index(item)];
    const Rect box = box_of(item);
    if (box.right() < body_.x || box.x > body_.right() || box.bottom() + unit_ < body_.y ||
        box.y > body_.bottom())
      return;
    const NodeState state = states_[index(it.node)];
    const Mark mark = scene.theme.mark(state);
    const bool dead = is_dead(state);
    const Color color = it.node == 0 ? scene.theme.text_dim : color_of(it.node, scene);
    const bool focused = contains(it, scene.focus.node());
    const bool on_path = path_.count(it.node) != 0;
    chips_.push_back({box, item, 0});
    if (unit_ < 4.5f) {
      canvas.fill_rect(box, on_path ? scene.theme.focus : dead ? color.with_alpha(0.5f) : color);
      return;
    }
    const float radius = unit_ * 0.32f;
    if (it.run > 1) {  // a stack of cards
      const float d = unit_ * 0.16f;
      canvas.stroke_rect({box.x + d, box.y - d, box.w, box.h}, color.with_alpha(0.55f), 1,
                         LineStyle::kSolid, radius);
    }
    canvas.fill_rect(box, scene.theme.background, radius);
    if (!mark.hollow && it.node != 0)
      canvas.fill_rect(box,
                       color.with_alpha(dead               ? 0.07f
                                        : scene.theme.dark ? 0.22f
                                                           : 0.16f),
                       radius);
    if (it.node == 0) canvas.fill_rect(box, scene.theme.raised, radius);
    canvas.stroke_rect(box,
                       on_path && !focused ? scene.theme.focus.with_alpha(0.75f)
                       : mark.outlined     ? scene.theme.text
                                           : color,
                       on_path ? 1.8f : 1.2f, mark.hollow ? LineStyle::kDashed : mark.line, radius);
    // Current: what this step's forward has read.
    if (current_.count(it.node))
      canvas.stroke_rect(box.inset(-1.8f), scene.theme.current.with_alpha(0.85f), 1,
                         LineStyle::kSolid, radius + 2);
    if (focused)
      canvas.stroke_rect(box.inset(-3), scene.theme.focus, 2.4f, LineStyle::kSolid, radius + 3);
    if (scene.differs(it.last) &&
        (it.node == 0 || !scene.differs(capture_->nodes()[index(it.node)].parent))) {
      // Where the difference begins. On the corner, so that rank, mark and figures stay readable.
      const float size = std::max(6.0f, unit_ * 0.72f);
      const Point corner{box.right() - size * 0.2f, box.y};
      canvas.fill_circle(corner, size * 0.72f, scene.theme.background);
      draw_glyph(canvas, "≠", corner, size, scene.theme.difference);
    }
    if (unit_ < kTextPx) return;
    TextStyle style =
        it.node == 0 ? ui_text(scene, view_.drawn_zoom * 0.9f) : mono_text(scene, view_.drawn_zoom);
    if (dead) style.color = scene.theme.text_dim;
    const float inset = unit_ * 0.35f;
    text_in(canvas, {box.x + inset, box.y, box.w - 2 * inset, box.h}, label_of(it, scene), style,
            Align::kCenter);
    if (mark.struck)
      canvas.line({box.x + inset * 0.7f, box.y + box.h / 2},
                  {box.right() - inset * 0.7f, box.y + box.h / 2}, color.with_alpha(0.8f), 1.1f);
    if (unit_ >= kDetailPx) draw_details(canvas, item, box, chip_of(item).right(), scene);
  }

  // Below the box: mark, probability, gap. Behind it: rank, or how many nodes are not drawn.
  void draw_details(Canvas& canvas, std::int32_t item, Rect box, float column_end,
                    const Scene& scene) const {
    const TrieItem& it = items_[index(item)];
    const NodeState state = states_[index(it.node)];
    const Mark mark = scene.theme.mark(state);
    const Color color = color_of(it.node, scene);
    TextStyle small = dim_text(scene, view_.drawn_zoom * 0.7f);
    const float line = box.bottom() + unit_ * 0.18f, height = unit_ * 0.74f;
    float x = box.x + unit_ * 0.1f;
    const float room = column_end + (kGutterEm - 0.5f) * unit_;
    std::string label, gap;
    if (it.node == 0) {
      label = "prompt, " + std::to_string(scene.capture->run().prompt_tokens.size()) + " tokens";
    } else {
      const bool plain = state == NodeState::kLive;
      if (!plain) {
        draw_glyph(canvas, mark.glyph, {x + unit_ * 0.35f, line + height / 2}, unit_ * 0.6f, color);
        x += unit_ * 0.8f;
      }
      if (it.run > 1) {
        label = std::to_string(it.run) + " tokens";
      } else {
        const capture::NodeView view = scene.capture->node_at(it.node, scene.cursor);
        if (!std::isnan(view.row.logprob)) label = probability_text(std::exp(view.row.logprob));
        if (is_dead(state) && it.hidden_dead + it.hidden_other == 0)
          if (const auto verdict = scene.capture->verdict_at(it.node, scene.cursor);
              verdict && verdict->gap > 0 && is_dead_verdict(*verdict))
            gap = (label.empty() ? "Δ" : "  Δ") + number_text(verdict->gap, 2);
      }
    }
    // Of a dead branch the gap says more than the probability, where there is room for one only.
    if (!gap.empty())
      label = canvas.measure(label + gap, small).x <= room - x ? label + gap
                                                               : gap.substr(gap.find("Δ"));
    const std::int32_t hidden = it.hidden_dead + it.hidden_other;
    if (hidden > 0) label += (label.empty() ? "+" : "  +") + std::to_string(hidden);
    // The rank stands behind a leaf; where drafts hang there, before the probability.
    if (const auto found = frontier_.find(it.last); found != frontier_.end()) {
      TextStyle badge = bold_text(scene, view_.drawn_zoom * 0.8f);
      badge.color = scene.theme.legible(color);
      const std::string rank = "#" + std::to_string(found->second + 1);
      const Point size = canvas.measure(rank, badge);
      if (layout_.first_child(item) < 0) {
        canvas.text({box.right() + unit_ * 0.3f, box.y + (box.h - size.y) / 2}, rank, badge);
      } else {
        text_in(canvas, {x, line, size.x + 1, height}, rank, badge);
        x += size.x + unit_ * 0.35f;
      }
    }
    text_in(canvas, {x, line, room - x, height}, label, small);
  }

  static bool is_dead_verdict(const capture::VerdictRow& row) {
    return row.verdict == capture::Verdict::kPruned || row.verdict == capture::Verdict::kRejected;
  }

  bool contains(const TrieItem& item, std::int32_t node) const {
    if (node == item.node) return true;
    if (item.run == 1 || node < item.node || node > item.last) return false;
    for (std::int32_t at = item.last; at > item.node; at = capture_->nodes()[index(at)].parent)
      if (at == node) return true;
    return false;
  }

  // ---- reacting ----

  void explain(const TrieItem& item, std::int32_t merged, const Scene& scene,
               std::vector<std::string>& lines) const {
    lines = node_tooltip(scene, item.node);
    if (item.run > 1)
      lines.push_back(std::to_string(item.run) +
                      " tokens without a branch are folded here: double-click to open");
    if (item.hidden_dead > 0)
      lines.push_back("+" + std::to_string(item.hidden_dead) +
                      " nodes on dead branches are not drawn: double-click to open");
    if (item.hidden_other > 0)
      lines.push_back("+" + std::to_string(item.hidden_other) +
                      " nodes folded away: double-click to open");
    if (merged > 0)
      lines.push_back("and " + std::to_string(merged) + " more nodes on this spot: zoom in");
  }

  void toggle(const TrieItem& item) {
    if (item.run > 1 || item.hidden_dead > 0) {
      folds_.opened.insert(item.node);
      for (std::int32_t at = item.last; item.run > 1 && at > item.node;
           at = capture_->nodes()[index(at)].parent)
        if (item.hidden_dead > 0) folds_.opened.insert(at);
    } else if (folds_.opened.erase(item.node) == 0 && folds_.closed.erase(item.node) == 0) {
      folds_.closed.insert(item.node);
    }
    ++fold_version_;
  }

  // ',' and '.': the neighbours in the column.
  void step_focus(int direction, const Scene& scene, Reaction& reaction) const {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!contains(items_[i], scene.focus.node())) continue;
      const auto column = layout_.column_items(layout_.column(static_cast<std::int32_t>(i)));
      const auto at = std::find(column.begin(), column.end(), static_cast<std::int32_t>(i));
      const auto to = (at - column.begin()) + direction;
      if (to >= 0 && to < static_cast<std::ptrdiff_t>(column.size()))
        reaction.lock = items_[index(column[static_cast<std::size_t>(to)])].node;
      return;
    }
  }

  // View state.
  TrieView view_;
  FoldOptions folds_;
  int fold_version_ = 0;

  // What the picture was made for, and what it is made of.
  const capture::Capture* capture_ = nullptr;
  capture::Tick cursor_ = -1;
  std::size_t node_count_ = 0;
  std::int64_t sequences_ = 0;
  int fold_seen_ = -1;
  float em_ = 0;
  std::vector<NodeState> states_;
  std::vector<std::int32_t> ranks_;  // of the best live leaf below, -1 = none
  std::unordered_map<std::int32_t, std::int32_t> frontier_;  // node -> rank
  std::unordered_set<std::int32_t> current_;
  std::vector<TrieItem> items_;
  std::vector<char> late_;
  TrieLayout layout_;
  std::vector<float> column_x_;                         // em
  float width_ = 0;                                     // em
  std::int32_t end_column_ = 0;                         // how far what lives reaches
  std::unordered_map<std::int32_t, float> chip_width_;  // token -> em

  // What was drawn last, for the mouse.
  Rect body_, mode_button_;
  float unit_ = 14;
  std::vector<Chip> chips_;
  std::unordered_set<std::int32_t> path_;
};

}  // namespace

std::unique_ptr<Panel> make_trie_panel() { return std::make_unique<TriePanel>(); }

}  // namespace triescope::viz

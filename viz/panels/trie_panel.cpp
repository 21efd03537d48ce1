// Trie: the token tree, growing to the right. Tokens on the nodes, probabilities below them, beams
// by colour and number, dead branches dimmed with their mark.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "viz/draw.h"
#include "viz/layouts/trie_layout.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kRowEm = 2.35f, kChipEm = 1.5f, kGapEm = 2.1f, kRootEm = 11, kCharEm = 0.62f;
constexpr float kMinZoom = 0.02f, kMaxZoom = 4;
constexpr int kMaxLabelChars = 16;
constexpr std::size_t kHideDeadFrom = 300;  // nodes: larger tries leave old dead branches out
constexpr std::int32_t kDeadSteps = 6;      // how long they stay
constexpr float kMergePx = 3;               // marks closer than this become one

bool dead(NodeState state) { return state == NodeState::kPruned || state == NodeState::kRejected; }

class TriePanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "trie", "Trie",
        "The token tree. Every column is one position; edges are as thick as the token is "
        "probable; beams carry their rank. "
        "Drag to move, wheel or W/S to zoom, F to fit, double-click a node to fold it.",
        "No tree yet: step once (F10) to run the prefill."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    chips_.clear();
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    update_layout(scene);
    const float legend = draw_legend(canvas, {area.x + scene.em * 0.6f, area.y + scene.em * 0.2f},
                                     area.w - scene.em * 1.2f, legend_of(scene), scene);
    const Rect body{area.x, area.y + legend + scene.em * 0.3f, area.w,
                    std::max(1.0f, area.h - legend - scene.em * 0.3f)};
    canvas.push_clip(body);
    draw_body(canvas, body, scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect area, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    if (in.inside && in.wheel != 0) zoom_at(in.mouse, std::pow(1.15f, in.wheel), area);
    if (in.zoom_in) zoom_at(in.mouse, 1.25f, area);
    if (in.zoom_out) zoom_at(in.mouse, 0.8f, area);
    if (in.pan_left) move(scene.em * 6, 0);
    if (in.pan_right) move(-scene.em * 6, 0);
    if (in.wheel_x != 0) move(in.wheel_x * scene.em * 3, 0);
    if (in.dragging) move(in.drag_delta.x, in.drag_delta.y);
    if (in.fit) {
      // Once: everything. Again: back to following.
      fit_ = !fit_ || !follow_;
      follow_ = true;
    }
    std::int32_t under = -1;
    if (in.inside) {
      for (auto chip = chips_.rbegin(); chip != chips_.rend(); ++chip)
        if (chip->area.contains(in.mouse)) {
          under = chip->node;
          break;
        }
      reaction.hover = under;
      if (under >= 0) reaction.tooltip = node_tooltip(scene, under);
      if (in.clicked) reaction.lock = under;
      if ((in.double_clicked || in.right_clicked) && under > 0) {
        if (!toggled_.erase(under)) toggled_.insert(under);
        ++fold_version_;
      }
    }
    if ((in.previous || in.next) && scene.focus.node() > 0) {
      const std::int32_t neighbour = neighbour_of(scene.focus.node(), in.next ? 1 : -1, scene);
      if (neighbour >= 0) reaction.lock = neighbour;
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    if (!scene.capture) return {scene.em * 30, scene.em * 8};
    TriePanel all;
    all.toggled_ = toggled_;
    all.update_layout(scene);
    return {all.total_width_ * scene.em + scene.em * 2,
            all.layout_.rows * kRowEm * scene.em + scene.em * 4};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "node,parent,token,text,depth,position,logprob,score,q,source,state,beam_rank,slot\n";
    if (!scene.capture) return out.str();
    for (const capture::NodeRow& row : scene.capture->nodes_at(scene.cursor)) {
      const capture::NodeView view = scene.capture->node_at(row.node, scene.cursor);
      const auto number = [](float value) {
        return std::isnan(value) ? std::string() : std::to_string(value);
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

  std::string view_state() const override {
    char text[64];
    std::snprintf(text, sizeof text, "zoom=%.3f", zoom_);
    return text;
  }
  void set_view_state(const std::string& state) override {
    float zoom = 0;
    if (std::sscanf(state.c_str(), "zoom=%f", &zoom) == 1 && zoom >= kMinZoom && zoom <= kMaxZoom)
      zoom_ = zoom;
  }

 private:
  struct Chip {
    Rect area;
    std::int32_t node;
  };

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
      for (const NodeState state : {NodeState::kLive, NodeState::kPruned, NodeState::kFinished})
        add(state);
    }
    return entries;
  }

  float label_width(const Scene& scene, std::int32_t token) {
    const auto found = width_of_token_.find(token);
    if (found != width_of_token_.end()) return found->second;
    const std::string text = token_text(scene.capture->piece(token), kMaxLabelChars);
    const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    return width_of_token_[token] = std::max(1.6f, static_cast<float>(characters) * kCharEm + 1.1f);
  }

  // Recomputes the layout if the visible tree or the folds changed. A function of capture, cursor
  // and folds alone.
  void update_layout(const Scene& scene) {
    const auto nodes = scene.capture->nodes_at(scene.cursor);
    if (scene.capture == capture_ && nodes.size() == node_count_ && scene.cursor == cursor_ &&
        fold_version_ == laid_out_version_ && scene.export_mode == export_mode_)
      return;
    if (scene.capture != capture_) width_of_token_.clear();
    capture_ = scene.capture;
    node_count_ = nodes.size();
    cursor_ = scene.cursor;
    laid_out_version_ = fold_version_;
    export_mode_ = scene.export_mode;
    // Each state is asked for once.
    states_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      states_[i] = scene.capture->state_at(static_cast<std::int32_t>(i), scene.cursor);
    const bool hide = nodes.size() >= kHideDeadFrom && !(scene.export_mode && nodes.size() < 2000);
    const std::int32_t now = scene.shown_step();
    layout_ = layout_trie(
        nodes, [&](std::int32_t node) { return toggled_.count(node) != 0; },
        [&](std::int32_t node) {
          const auto i = static_cast<std::size_t>(node);
          if (!hide || !dead(states_[i])) return false;
          // A double click on the parent brings its dead children back.
          if (toggled_.count(-nodes[i].parent - 10)) return false;
          return capture::step_of(nodes[i].tick) + kDeadSteps < now;
        },
        [&](std::int32_t node) {
          return node == 0 ? kRootEm
                           : label_width(scene, nodes[static_cast<std::size_t>(node)].token);
        });
    column_x_.assign(layout_.columns.size() + 1, 0);
    for (std::size_t i = 0; i < layout_.columns.size(); ++i)
      column_x_[i + 1] = column_x_[i] + layout_.column_width[i] + kGapEm;
    total_width_ = column_x_.back() - kGapEm;
  }

  void move(float dx, float dy) {
    if (follow_) adopt();
    pan_x_ += dx;
    pan_y_ += dy;
  }
  // The view as it was drawn becomes the user's own.
  void adopt() {
    follow_ = fit_ = false;
    pan_x_ = drawn_x_;
    pan_y_ = drawn_y_;
    zoom_ = drawn_zoom_;
  }
  void zoom_at(Point mouse, float factor, Rect) {
    if (follow_) adopt();
    const float zoom = std::clamp(zoom_ * factor, kMinZoom, kMaxZoom);
    const float change = zoom / zoom_;
    pan_x_ = mouse.x - (mouse.x - pan_x_) * change;
    pan_y_ = mouse.y - (mouse.y - pan_y_) * change;
    zoom_ = zoom;
  }

  // Where the layout's origin goes, and at which zoom.
  void place_view(Rect body, const Scene& scene) {
    const float em = scene.em, width = (total_width_ + 2) * em,
                height = (layout_.rows * kRowEm + 0.6f) * em;
    drawn_zoom_ = scene.export_mode ? 1 : zoom_;
    if (scene.export_mode || fit_) {
      drawn_zoom_ = std::clamp(std::min(body.w / width, body.h / height), kMinZoom,
                               scene.export_mode ? 1.0f : 1.3f);
    }
    if (!follow_ && !scene.export_mode) {
      drawn_x_ = pan_x_;
      drawn_y_ = pan_y_;
      drawn_zoom_ = zoom_;
      return;
    }
    const float w = width * drawn_zoom_, h = height * drawn_zoom_;
    // The growing end stays in sight; what fits is shown whole, in the middle.
    drawn_x_ = body.x + em * drawn_zoom_ + (w > body.w ? body.w - w : 0);
    drawn_y_ = body.y + (h <= body.h ? (body.h - h) / 2 : 0);
    if (h > body.h) {
      float row = layout_.rows / 2;
      const auto frontier = scene.capture->frontier(scene.capture->frontier_step(scene.cursor));
      if (!frontier.empty() && layout_.shows(frontier.front().node))
        row = layout_.row_of[static_cast<std::size_t>(frontier.front().node)];
      drawn_y_ = std::clamp(body.y + body.h / 2 - row * kRowEm * em * drawn_zoom_,
                            body.bottom() - h, body.y);
    }
  }

  void draw_body(Canvas& canvas, Rect body, const Scene& scene) {
    place_view(body, scene);
    const float unit = scene.em * drawn_zoom_;
    const auto x_of = [&](std::size_t column) { return drawn_x_ + column_x_[column] * unit; };
    const auto y_of = [&](float row) { return drawn_y_ + row * kRowEm * unit; };
    const auto first_column =
        std::upper_bound(column_x_.begin(), column_x_.end(), (body.x - drawn_x_) / unit) -
        column_x_.begin();
    const float top_row = (body.y - drawn_y_) / (kRowEm * unit) - 1,
                bottom_row = (body.bottom() - drawn_y_) / (kRowEm * unit) + 1;

    path_.clear();
    for (std::int32_t node = scene.focus.node();
         node > 0 && node < static_cast<std::int32_t>(node_count_);
         node = scene.capture->nodes()[static_cast<std::size_t>(node)].parent)
      path_.insert(node);
    if (!path_.empty()) path_.insert(0);

    // Edges first, so that chips lie above them. One column more on the right: its edges begin in
    // sight.
    for (auto c = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, first_column - 1));
         c < layout_.columns.size(); ++c) {
      if (x_of(c - 1) > body.right()) break;
      for_visible(c, top_row, bottom_row, [&](const TrieLayout::Entry& entry) {
        draw_edge(canvas, entry, c, scene, unit, x_of, y_of);
      });
    }
    for (auto c = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, first_column - 1));
         c < layout_.columns.size(); ++c) {
      if (x_of(c) > body.right()) break;
      float last_y = -1e9f;
      int merged = 0;
      for_visible(c, top_row, bottom_row, [&](const TrieLayout::Entry& entry) {
        const float y = y_of(entry.row);
        if (y - last_y < kMergePx && kRowEm * unit < kMergePx) {
          ++merged;
          return;
        }
        draw_merged(canvas, merged, x_of(c), last_y, scene);
        merged = 0;
        last_y = y;
        draw_chip(canvas, entry, x_of(c), y, c, scene, unit);
      });
      draw_merged(canvas, merged, x_of(c), last_y, scene);
    }
  }

  // Entries of a column between two rows: columns are sorted, except where a fold's parent lies
  // between (one row of slack).
  template <class Visit>
  void for_visible(std::size_t column, float top, float bottom, Visit visit) const {
    const auto& entries = layout_.columns[column];
    auto at =
        std::lower_bound(entries.begin(), entries.end(), top,
                         [](const TrieLayout::Entry& entry, float row) { return entry.row < row; });
    for (; at != entries.end() && at->row <= bottom; ++at) visit(*at);
  }

  Color color_of(std::int32_t node, const Scene& scene, std::int32_t rank) const {
    const NodeState state = states_[static_cast<std::size_t>(node)];
    if (state == NodeState::kLive && rank >= 0) return scene.theme.beam(rank);
    return scene.theme.mark(state).color;
  }

  void draw_merged(Canvas& canvas, int merged, float x, float y, const Scene& scene) const {
    if (merged < 4) return;
    const TextStyle style = dim_text(scene, 0.6f);
    canvas.text({x, y + 1}, "×" + std::to_string(merged + 1), style);
  }

  template <class X, class Y>
  void draw_edge(Canvas& canvas, const TrieLayout::Entry& entry, std::size_t column,
                 const Scene& scene, float unit, const X& x_of, const Y& y_of) {
    const capture::NodeRow& row = scene.capture->nodes()[static_cast<std::size_t>(entry.node)];
    if (!layout_.shows(row.parent)) return;
    const capture::NodeView view = scene.capture->node_at(entry.node, scene.cursor);
    const NodeState state = states_[static_cast<std::size_t>(entry.node)];
    const float p = std::isnan(view.row.logprob) ? 0 : std::exp(view.row.logprob);
    const bool on_path = path_.count(entry.node) != 0;
    Color color = on_path ? scene.theme.focus : color_of(entry.node, scene, view.beam_rank);
    if (!on_path && dead(state)) color = color.with_alpha(0.55f);
    const float width = std::max(1.0f, (0.06f + 0.2f * p) * unit);
    const float parent_width =
        column == 1
            ? kRootEm
            : label_width(scene,
                          scene.capture->nodes()[static_cast<std::size_t>(row.parent)].token);
    const Point from{x_of(column - 1) + parent_width * unit,
                     y_of(layout_.row_of[static_cast<std::size_t>(row.parent)])};
    const Point to{x_of(column), y_of(entry.row)};
    const float bend = std::max(kGapEm * unit * 0.5f, (to.x - from.x) * 0.45f);
    canvas.bezier(from, {from.x + bend, from.y}, {to.x - bend, to.y}, to, color, width,
                  scene.theme.mark(state).line);
  }

  void draw_chip(Canvas& canvas, const TrieLayout::Entry& entry, float x, float y,
                 std::size_t column, const Scene& scene, float unit) {
    const capture::NodeRow& row = scene.capture->nodes()[static_cast<std::size_t>(entry.node)];
    const capture::NodeView view = scene.capture->node_at(entry.node, scene.cursor);
    const NodeState state = states_[static_cast<std::size_t>(entry.node)];
    const Mark mark = scene.theme.mark(state);
    const bool on_path = path_.count(entry.node) != 0, focused = scene.focus.node() == entry.node,
               is_dead = dead(state);
    const Color color =
        entry.node == 0 ? scene.theme.text : color_of(entry.node, scene, view.beam_rank);
    const float width = (column == 0 ? kRootEm : label_width(scene, row.token)) * unit;
    const Rect chip{x, y - kChipEm * unit / 2, width, std::max(1.5f, kChipEm * unit)};
    chips_.push_back({chip, entry.node});
    const float radius = unit * 0.35f, size = unit;
    if (size < 4.5f) {  // too small for text: a mark of the state's colour
      canvas.fill_rect(chip, is_dead ? color.with_alpha(0.5f) : color, 0);
      return;
    }
    canvas.fill_rect(chip, scene.theme.background, radius);
    if (!mark.hollow) canvas.fill_rect(chip, color.with_alpha(is_dead ? 0.07f : 0.2f), radius);
    canvas.stroke_rect(chip,
                       focused   ? scene.theme.focus
                       : on_path ? scene.theme.focus.with_alpha(0.7f)
                                 : color,
                       focused   ? 2.5f
                       : on_path ? 1.8f
                                 : 1.2f,
                       mark.line, radius);
    TextStyle style = mono_text(scene, drawn_zoom_);
    if (is_dead) style.color = scene.theme.text_dim;
    if (entry.node == 0) {
      TextStyle ui = ui_text(scene, drawn_zoom_ * 0.9f);
      text_in(canvas, chip.inset(unit * 0.4f), prompt_label(scene), ui, Align::kCenter);
    } else {
      text_in(canvas, {chip.x + unit * 0.35f, chip.y, chip.w - unit * 0.7f, chip.h},
              node_text(scene, entry.node, kMaxLabelChars), style, Align::kCenter);
      if (mark.struck)
        canvas.line({chip.x + unit * 0.25f, y}, {chip.right() - unit * 0.25f, y}, color, 1.2f,
                    LineStyle::kSolid);
    }
    // Below the chip: probability and the mark; behind it: rank or count.
    if (unit < scene.em * 0.62f) return;
    TextStyle small = dim_text(scene, drawn_zoom_ * 0.68f);
    const float line_y = chip.bottom() + unit * 0.08f;
    if (entry.node > 0) {
      if (is_dead || state == NodeState::kAccepted || state == NodeState::kBonus ||
          state == NodeState::kCorrected || state == NodeState::kFinished ||
          state == NodeState::kPending)
        draw_glyph(canvas, mark.glyph, {chip.x + unit * 0.4f, line_y + unit * 0.36f}, unit * 0.55f,
                   color);
      std::string label;
      if (!std::isnan(view.row.logprob)) label = number_text(std::exp(view.row.logprob), 2);
      if (label.size() > 4 && label.rfind("0.00", 0) == 0) label = "<.01";
      text_in(canvas,
              {chip.x + unit * 0.8f, line_y, chip.w - unit * 0.8f + unit * 1.6f, unit * 0.75f},
              label, small);
    }
    const bool leaf_of_beam = view.beam_rank >= 0 && is_frontier(scene, entry.node);
    if (leaf_of_beam && state != NodeState::kAccepted) {
      TextStyle badge = bold_text(scene, drawn_zoom_ * 0.78f);
      badge.color = color;
      canvas.text({chip.right() + unit * 0.25f, y - unit * 0.5f},
                  "#" + std::to_string(view.beam_rank + 1), badge);
    } else if (entry.folded > 0) {
      canvas.text({chip.right() + unit * 0.2f, y - unit * 1.05f},
                  "+" + std::to_string(entry.folded), small);
    }
  }

  static bool is_frontier(const Scene& scene, std::int32_t node) {
    for (const capture::FrontierRow& row :
         scene.capture->frontier(scene.capture->frontier_step(scene.cursor)))
      if (row.node == node) return true;
    return false;
  }

  static std::string prompt_label(const Scene& scene) {
    const auto& prompt = scene.capture->run().prompt_tokens;
    std::string tail;
    for (std::size_t i = prompt.size(); i-- > 0 && tail.size() < 14;) {
      const std::string text = token_text(scene.capture->piece(prompt[i]), 10);
      tail = text + tail;
    }
    return std::to_string(prompt.size()) + " tokens …" + tail;
  }

  std::int32_t neighbour_of(std::int32_t node, int direction, const Scene& scene) const {
    if (!layout_.shows(node)) return -1;
    const auto& column = layout_.columns[static_cast<std::size_t>(
        scene.capture->nodes()[static_cast<std::size_t>(node)].depth)];
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (column[i].node != node) continue;
      const auto to = static_cast<std::ptrdiff_t>(i) + direction;
      return to >= 0 && to < static_cast<std::ptrdiff_t>(column.size())
                 ? column[static_cast<std::size_t>(to)].node
                 : -1;
    }
    return -1;
  }

  // View state.
  float zoom_ = 1, pan_x_ = 0, pan_y_ = 0;
  bool follow_ = true, fit_ = false;
  std::unordered_set<std::int32_t> toggled_;
  int fold_version_ = 0;

  // The layout at hand and what it was made for.
  const capture::Capture* capture_ = nullptr;
  std::size_t node_count_ = 0;
  capture::Tick cursor_ = -1;
  int laid_out_version_ = -1;
  bool export_mode_ = false;
  TrieLayout layout_;
  std::vector<NodeState> states_;
  std::vector<float> column_x_;
  float total_width_ = 0;
  std::unordered_map<std::int32_t, float> width_of_token_;

  // What was drawn last, for the mouse.
  float drawn_x_ = 0, drawn_y_ = 0, drawn_zoom_ = 1;
  std::vector<Chip> chips_;
  std::unordered_set<std::int32_t> path_;
};

}  // namespace

std::unique_ptr<Panel> make_trie_panel() { return std::make_unique<TriePanel>(); }

}  // namespace triescope::viz

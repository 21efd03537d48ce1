// Candidates: the best tokens of one node's output row with their probabilities. The chosen ones
// are marked.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/query/beam_decision.h"
#include "viz/query/leaves.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kRowEm = 1.5f;

// True if the token became a child by the cursor.
bool took(const capture::CandidateRow& row, const RowSource& source, const Scene& scene,
          capture::Tick cursor) {
  return row.chosen || child_of(*scene.capture, row.node, row.token, cursor, source.whose) >= 0;
}
bool took(const capture::CandidateRow& row, const RowSource& source, const Scene& scene) {
  return took(row, source, scene, scene.cursor);
}

// True if the row is new, or its token has just become a child.
bool is_lit(const capture::CandidateRow& row, const RowSource& source, const Scene& scene) {
  return scene.lights() && (scene.lights(row.tick) || (took(row, source, scene) &&
                                                       !took(row, source, scene, scene.lit_from)));
}

class CandidatesPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "candidates",
        "Candidates",
        std::string("The best next tokens after the focused node (or the best live path), with "
                    "log-probabilities. A mark shows which became children.") +
            OwnerSwitch::kHelp,
        "Click a node of the trie whose children differ in colour, and find here the token that came "
        "in second and how little it lacked.",
        "No output row yet: step once (F10), or focus a node that has been through a forward.",
        /*rows=*/{"candidate"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    list_ = {};
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner =
        owner_.draw(canvas, {area.right() - pad, area.y + em * 0.2f}, area.w * 0.3f, scene);
    const std::int32_t node = node_of(scene);
    if (node < 0)
      return draw_empty_state(canvas, area,
                              source.is_target() ? empty_text(scene.capture, info(), info().empty)
                                                 : "No output row of the " +
                                                       std::string(owner_name(source.whose)) +
                                                       " yet: step on (F10).",
                              scene);
    const auto rows = source.candidates(*scene.capture, node, scene.cursor);
    float right = owner.w > 0 ? owner.x : area.right();
    if (const float key =
            draw_lit_key(canvas, {right - pad, area.y + em * 0.2f}, area.w * 0.5f, scene);
        key > 0)
      right -= key + em;
    text_in(canvas, {area.x + pad, area.y + em * 0.25f, right - pad - (area.x + pad), em * 1.3f},
            "after " + (node == 0 ? std::string("the prompt")
                                  : "node " + std::to_string(node) + " " + node_text(scene, node)),
            bold_text(scene, 0.9f));
    // The numbers of a row that stood wrong, or saw what is not its text, are not those of its path.
    const auto last = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
    const auto faults = row_fault_lines(scene, node == 0 ? -1 - last : node, source.whose);
    const float warning = faults.empty() ? 0 : em * 1.35f;
    if (!faults.empty()) {
      draw_glyph(canvas, "▲", {area.x + pad + em * 0.45f, area.y + em * 2.3f}, em * 0.75f,
                 scene.theme.fault);
      text_in(
          canvas,
          {area.x + pad + em * 1.2f, area.y + em * 1.65f, area.w - 2 * pad - em * 1.2f, em * 1.3f},
          "its row " + faults.front(), ui_text(scene, 0.86f));
    }
    const Rect whole{area.x + pad, area.y + em * 1.7f + warning, area.w - 2 * pad,
                     std::max(1.0f, area.h - em * 1.9f - warning)};
    const float row = em * kRowEm, token = std::min(em * 9, whole.w * 0.42f);
    const bool logs = whole.w > em * 18;
    const float p_width = em * 3.6f, log_width = logs ? em * 4 : 0;
    const TextStyle head = dim_text(scene, 0.76f);
    const float p_x = whole.right() - log_width - p_width;
    draw_head(canvas, {whole.x + em * 1.2f, whole.y, token, em * 1.1f}, "token", head);
    draw_head(canvas, {p_x, whole.y, p_width, em * 1.1f}, "p", head, Align::kRight);
    if (logs)
      draw_head(canvas, {whole.right() - log_width, whole.y, log_width, em * 1.1f}, "log p", head,
                Align::kRight);
    const Rect list{whole.x, whole.y + em * 1.2f, whole.w, std::max(1.0f, whole.h - em * 1.2f)};
    list_ = {list, row};
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(list.h / row)));
    // The last row says how many do not fit.
    const std::size_t shown = rows.size() > fitting ? fitting - 1 : rows.size();
    shown_ = shown;
    double mass = 0;
    const Mark mark = scene.theme.mark(capture::NodeState::kLive);
    for (std::size_t i = 0; i < shown; ++i) {
      const capture::CandidateRow& candidate = rows[i];
      const float y = list.y + static_cast<float>(i) * row;
      const double p = std::exp(static_cast<double>(candidate.logprob));
      mass += p;
      const bool chosen = took(candidate, source, scene);
      if (is_lit(candidate, source, scene)) draw_lit_row(canvas, {list.x, y, list.w, row}, scene);
      if (chosen)
        draw_glyph(canvas, mark.glyph, {list.x + em * 0.5f, y + row / 2}, em * 0.7f, mark.color);
      text_in(canvas, {list.x + em * 1.2f, y, token - em * 0.3f, row},
              token_text(scene.capture->piece(candidate.token), 16), mono_text(scene, 0.9f));
      const float bar_x = list.x + em * 1.4f + token, bar_width = p_x - bar_x - em * 0.3f;
      if (bar_width > em) {
        canvas.fill_rect({bar_x, y + row * 0.25f, bar_width, row * 0.5f}, scene.theme.grid, 0);
        canvas.fill_rect(
            {bar_x, y + row * 0.25f, std::max(1.0f, bar_width * static_cast<float>(p)), row * 0.5f},
            chosen ? mark.color : scene.theme.text_dim, 0);
      }
      text_in(canvas, {p_x, y, p_width, row}, number_text(p, 4), dim_text(scene, 0.84f),
              Align::kRight);
      if (logs)
        text_in(canvas, {list.right() - log_width, y, log_width, row},
                logprob_text(candidate.logprob), dim_text(scene, 0.84f), Align::kRight);
    }
    const float y = list.y + static_cast<float>(shown) * row;
    if (shown < rows.size())
      text_in(canvas, {list.x + em * 1.2f, y, list.w - em * 1.2f, row},
              "+ " + std::to_string(rows.size() - shown) + " more in a taller panel",
              dim_text(scene, 0.8f));
    else if (y + row <= list.bottom())
      text_in(canvas, {list.x, y, list.w, row},
              "shown: " + number_text(mass * 100, 1) + " % of the probability; ✓ became children",
              dim_text(scene, 0.76f), Align::kRight);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (owner_.input(in, scene, reaction)) return reaction;
    const std::int32_t node = node_of(scene);
    if (!in.inside || node < 0 || list_.row <= 0 || !list_.area.contains(in.mouse)) return reaction;
    const auto rows = owner_.source(scene).candidates(*scene.capture, node, scene.cursor);
    const auto i = static_cast<std::size_t>((in.mouse.y - list_.area.y) / list_.row);
    if (i >= std::min(rows.size(), shown_)) return reaction;
    const capture::CandidateRow& row = rows[i];
    reaction.tooltip = {"token " + std::to_string(row.token) + "  " +
                            token_text(scene.capture->piece(row.token), 60),
                        "rank " + std::to_string(row.rank + 1),
                        "log p = logit − logsumexp(logits) = " + logprob_text(row.logprob),
                        "p = exp(log p) = " + number_text(std::exp(row.logprob), 6)};
    // Before an audience the key does nothing.
    if (!scene.series) reaction.tooltip.push_back("Ctrl+I: decode on with another token");
    for (const std::int32_t child : scene.capture->children(node)) {
      const capture::NodeRow& below = scene.capture->nodes()[static_cast<std::size_t>(child)];
      if (in.clicked && below.token == row.token && !capture::is_probe(below))
        reaction.lock = child;
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const std::int32_t node = node_of(scene);
    const auto rows =
        node < 0 ? 4
                 : owner_.source(scene).candidates(*scene.capture, node, scene.cursor).size() + 1;
    return {scene.em * 40, scene.em * (3.9f + kRowEm * static_cast<float>(rows))};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "node,rank,token,text,logprob,p,chosen\n";
    const std::int32_t node = node_of(scene);
    if (node < 0) return out.str();
    for (const capture::CandidateRow& row :
         owner_.source(scene).candidates(*scene.capture, node, scene.cursor))
      out << node << ',' << row.rank << ',' << row.token << ','
          << csv_field(plain_text(scene.capture->piece(row.token))) << ','
          << csv_number(row.logprob) << ',' << csv_number(std::exp(row.logprob)) << ','
          << took(row, owner_.source(scene), scene) << '\n';
    return out.str();
  }
  std::string whose(const Scene& scene) const override { return owner_.name(scene); }
  std::string view_state() const override { return owner_.state(); }
  void set_view_state(const std::string& state) override { owner_.set_state(state); }

 private:
  // The focused node if it has candidates, else its parent, else the best live leaf or its nearest
  // ancestor that has some.
  std::int32_t node_of(const Scene& scene) const {
    if (!scene.capture) return -1;
    const RowSource source = owner_.source(scene);
    const auto has = [&](std::int32_t node) {
      return node >= 0 && !source.candidates(*scene.capture, node, scene.cursor).empty();
    };
    const auto parent = [&](std::int32_t node) {
      return node > 0 && node < static_cast<std::int32_t>(scene.capture->nodes().size())
                 ? scene.capture->nodes()[static_cast<std::size_t>(node)].parent
                 : -1;
    };
    std::int32_t node = scene.focus.node();
    if (has(node)) return node;
    if (has(parent(node))) return parent(node);
    const auto frontier = leaves_at(*scene.capture, scene.cursor);
    if (!frontier.empty()) {
      for (node = frontier.front().node; node >= 0; node = parent(node))
        if (has(node)) return node;
    }
    return has(0) ? 0 : -1;
  }

  OwnerSwitch owner_;
  struct {
    Rect area;
    float row = 0;
  } list_;
  std::size_t shown_ = 0;  // rows that fitted
};

}  // namespace

std::unique_ptr<Panel> make_candidates_panel() { return std::make_unique<CandidatesPanel>(); }

}  // namespace triescope::viz

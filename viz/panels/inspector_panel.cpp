// Inspector: everything about the focused node, with formulas; without a focus, about the run.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/gap_strip.h"
#include "viz/panels/metric_curves.h"
#include "viz/panels/page_scroll.h"
#include "viz/panels/panels.h"
#include "viz/panels/run_summary.h"
#include "viz/query/expert_use.h"
#include "viz/text/glossary.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using Fact = SummaryLine;

std::vector<Fact> run_facts(const Scene& scene, MetricCurves& curves) {
  std::vector<Fact> facts = result_lines(scene, {}, Told::kInOneList);
  const auto add = [&](std::vector<Fact> more) {
    facts.insert(facts.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
  add(made_lines(scene, Told::kInOneList));
  for (const MetricCurve& curve : curves.of(*scene.capture, scene.cursor))
    if (const MetricPoint* const point = curve.at(scene.shown_step()))
      facts.push_back({curve.name, metric_text(*point), "in step " + std::to_string(point->step)});
  add(setting_lines(scene.capture->run()));
  return facts;
}

std::vector<Fact> node_facts(const Scene& scene, std::int32_t node) {
  const capture::Capture& capture = *scene.capture;
  std::vector<Fact> facts;
  if (node <= -2) {
    const auto index = static_cast<std::size_t>(-2 - node);
    facts = {{"prompt token", std::to_string(index), ""},
             {"text", node_text(scene, node, 60), ""},
             {"position", std::to_string(index), "prompt tokens stand at 0 … prompt − 1"}};
    if (index < capture.run().prompt_tokens.size())
      facts.push_back({"token id", std::to_string(capture.run().prompt_tokens[index]), ""});
    facts.push_back({"slot", std::to_string(capture.slot_of(node, scene.cursor)), ""});
    return facts;
  }
  const capture::NodeView view = capture.node_at(node, scene.cursor);
  const auto prompt = capture.run().prompt_tokens.size();
  // A probe's token never gets a probability.
  const std::string unknown = capture::is_probe(view.row) ? "none" : "not known yet";
  const auto number = [&](float value) {
    return std::isnan(value) ? unknown : number_text(value, 5);
  };
  facts.push_back({"node", std::to_string(node), ""});
  if (node > 0) {
    facts.push_back({"text", node_text(scene, node, 60), ""});
    facts.push_back({"token id", std::to_string(view.row.token), ""});
    facts.push_back(
        {"parent", std::to_string(view.row.parent) + "  " + node_text(scene, view.row.parent), ""});
    facts.push_back({"depth", std::to_string(view.row.depth), ""});
    facts.push_back({"position", std::to_string(node_position(scene, node)),
                     "prompt + depth − 1 = " + std::to_string(prompt) + " + " +
                         std::to_string(view.row.depth) + " − 1"});
    facts.push_back({"source", std::string(capture.source_of(view.row)), ""});
    facts.push_back({"state", capture::to_string(view.state),
                     capture::is_probe(view.row)
                         ? "it never becomes text: a drafter reads what its row says"
                         : ""});
    facts.push_back({"since step",
                     std::to_string(capture::step_of(view.row.tick)) + ", " +
                         capture::to_string(capture::phase_of(view.row.tick)),
                     ""});
    facts.push_back(
        {"log p", number(view.row.logprob), "log p(token | path) = logit − logsumexp(logits)"});
    facts.push_back(
        {"p", std::isnan(view.row.logprob) ? unknown : number_text(std::exp(view.row.logprob), 6),
         "exp(log p)"});
    facts.push_back({"Σ log p", number(view.row.score), "over the path"});
    if (capture::is_draft(view.row))
      facts.push_back(
          {"q", number_text(view.row.q, 4), "probability it was drafted with; 1 = deterministic"});
  } else {
    facts.push_back({"prompt", counted(prompt, "token"), "the root stands for the whole prompt"});
  }
  facts.push_back({"slot", view.slot >= 0 ? std::to_string(view.slot) : "none", ""});
  facts.push_back({"beam",
                   view.beam_rank >= 0 ? "on the path of beam " + std::to_string(view.beam_rank + 1)
                                       : "on no live path",
                   ""});
  facts.push_back(
      {"children",
       std::to_string(std::count_if(capture.children(node).begin(), capture.children(node).end(),
                                    [&](std::int32_t child) {
                                      return capture.state_at(child, scene.cursor) !=
                                             capture::NodeState::kAbsent;
                                    })),
       ""});
  if (const auto verdict = capture.verdict_at(node, scene.cursor)) {
    facts.push_back(
        {"verdict", capture::to_string(verdict->verdict), reason_text(*verdict, capture)});
    if (verdict->p >= 0)
      facts.push_back({is_after_warpers(verdict->reason) ? "p′" : "p (verdict)",
                       number_text(verdict->p, 5),
                       is_after_warpers(verdict->reason) ? "after processors and warpers" : ""});
    if (const float limit = acceptance_limit(*verdict); !std::isnan(limit))
      facts.push_back({acceptance_limit_name(verdict->reason), number_text(limit, 4),
                       carries(verdict->reason, "block") ? "the block ends at the last u not above"
                                                         : "accepted if u is below"});
    if (carries(verdict->reason, "block"))
      facts.push_back({"block p", number_text(verdict->value, 4), "of the drafts up to here"});
    if (verdict->u >= 0) facts.push_back({"u", number_text(verdict->u, 5), "uniform draw"});
    if (verdict->rank >= 0) facts.push_back({"rank", std::to_string(verdict->rank + 1), ""});
    if (verdict->gap > 0)
      facts.push_back({"Δ", number_text(verdict->gap, 4),
                       "distance to the nearest beam on the other side of the cut"});
    if (verdict->replacement >= 0)
      facts.push_back({"replaced by", token_text(capture.piece(verdict->replacement)), ""});
  }
  return facts;
}

// Adds the recorder's own figures of a node.
void add_metrics(std::vector<Fact>& facts, const Scene& scene, std::int32_t node) {
  for (const capture::MetricRow& row : metrics_of_node(*scene.capture, node, scene.cursor))
    facts.push_back({row.name, metric_text({.mean = row.value, .count = 1}),
                     "step " + std::to_string(capture::step_of(row.tick)) + ", " +
                         capture::to_string(capture::phase_of(row.tick))});
}

// Adds the experts that the node's row went through, in a mixture: "layer 0: 1 5, layer 1: 0 3".
void add_experts(std::vector<Fact>& facts, const Scene& scene, std::int32_t node) {
  std::string text;
  for (const capture::ExpertRow& row : experts_of(*scene.capture, node, scene.cursor)) {
    text += (text.empty() ? "layer " : ", layer ") + std::to_string(row.layer) + ":";
    for (const std::int32_t expert : row.experts) text += " " + std::to_string(expert);
  }
  if (!text.empty())
    facts.push_back(
        {"experts", std::move(text), "those with the router's best scores, layer by layer"});
}

// Adds what every model's rows of the node are recorded as, where that is not as the tree asks.
void add_faults(std::vector<Fact>& facts, const Scene& scene, std::int32_t node) {
  for (const std::string& line : all_fault_lines(scene, node))
    facts.push_back({"not as the tree asks", line, ""});
}

std::vector<Fact> facts_of(const Scene& scene, MetricCurves& curves) {
  if (!scene.capture) return {};
  const std::int32_t node = scene.focus.node();
  const bool known = node <= -2 || (node >= 0 && scene.capture->state_at(node, scene.cursor) !=
                                                     capture::NodeState::kAbsent);
  if (!known) return run_facts(scene, curves);
  std::vector<Fact> facts = node_facts(scene, node);
  add_experts(facts, scene, node);
  add_metrics(facts, scene, node);
  add_faults(facts, scene, node);
  return facts;
}

constexpr float kColumnEm = 30;  // the least width of one of several columns

class InspectorPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "inspector", "Inspector",
        "Everything about the focused node, with the formulas its "
        "figures come from. Without a focus: about the run.",
        "Click a token of the text, and check its Σ log p by hand: its parent's, plus its log p.",
        "Nothing to inspect yet: start a run or open a capture."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    const std::vector<Fact>& facts = facts_at(scene);
    if (facts.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    // A list longer than a wide panel goes on in a column beside it.
    const auto columns = static_cast<std::size_t>(
        std::clamp(std::floor(area.w / (scene.em * kColumnEm)), 1.0f, 3.0f));
    Rect column{area.x, area.y, area.w / static_cast<float>(columns), area.h};
    float overflow = 0;
    const float whole = lay_out(canvas, area, scene, facts, false);
    if (columns == 1 || whole <= area.h) {
      overflow = whole - area.h;
      scroll_.fit(overflow);
      lay_out(canvas, area, scene, facts, true);
    } else {
      std::vector<Fact> part;
      for (std::size_t i = 0, left = columns; i < facts.size(); ++i) {
        part.push_back(facts[i]);
        std::vector<Fact> more = part;
        if (i + 1 < facts.size()) more.push_back(facts[i + 1]);
        const bool full = lay_out(canvas, column, scene, more, false) > area.h && left > 1;
        if (!full && i + 1 < facts.size()) continue;
        const float height = lay_out(canvas, column, scene, part, true);
        overflow = std::max(overflow, height - area.h);
        column.x += column.w;
        part.clear();
        --left;
      }
    }
    scroll_.fit(overflow);
    scroll_.draw_corners(canvas, area, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    scroll_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    InspectorPanel all;
    return {
        scene.em * 36,
        all.lay_out(canvas, {0, 0, scene.em * 36, 1e6f}, scene, facts_at(scene), false) + scene.em};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "field,value,formula\n";
    for (const Fact& fact : facts_at(scene))
      out << csv_field(fact.label) << ',' << csv_field(fact.value) << ',' << csv_field(fact.help)
          << '\n';
    return out.str();
  }

 private:
  float lay_out(Canvas& canvas, Rect area, const Scene& scene, const std::vector<Fact>& facts,
                bool draw) const {
    const float em = scene.em, pad = em * 0.6f, row = em * 1.3f;
    const float label = std::min(em * 8, area.w * 0.36f);
    float y = area.y + em * 0.35f - (scene.export_mode ? 0 : scroll_.at());
    const float start = y;
    for (const Fact& fact : facts) {
      const float width = std::max(em * 3, area.w - label - 2 * pad);
      const auto value = wrap_text(canvas, fact.value, ui_text(scene, 0.92f), width);
      const auto formula = fact.help.empty()
                               ? std::vector<std::string>()
                               : wrap_text(canvas, fact.help, dim_text(scene, 0.78f), width);
      // Half a line at an edge cannot be read, so whole ones alone are drawn.
      const auto put = [&](Rect box, const std::string& text, const TextStyle& style) {
        if (box.y >= area.y - 0.5f && box.bottom() <= area.bottom() + 0.5f)
          text_in(canvas, box, text, style);
      };
      if (draw) {
        const Rect name{area.x + pad, y, label - em * 0.4f, row};
        put(name, fact.label, dim_text(scene, 0.88f));
        if (!meaning_of(fact.label).empty()) canvas.term(name, fact.label);
        float at = y;
        for (const std::string& line : value) {
          put({area.x + pad + label, at, width, row}, line, ui_text(scene, 0.92f));
          at += row;
        }
        if (at >= area.y - 0.5f && at + row <= area.bottom() + 0.5f)
          draw_gap_strip(canvas, {area.x + pad + label, at, width, row}, fact.gaps, scene);
        at += fact.gaps.empty() ? 0 : row;
        for (const std::string& line : formula) {
          put({area.x + pad + label, at - em * 0.1f, width, row * 0.85f}, line,
              dim_text(scene, 0.78f));
          at += row * 0.85f;
        }
      }
      y += row * static_cast<float>(value.size() + !fact.gaps.empty()) +
           row * 0.85f * static_cast<float>(formula.size()) + em * 0.12f;
    }
    return y - start + em * 0.5f;
  }

  // The scene for which the facts were computed.
  struct Key {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = -1;
    std::int32_t node = -1;
    std::size_t phases = 0, sequences = 0;  // those read so far: a run grows
    capture::RunStatus status = capture::RunStatus::kRunning;
    bool operator==(const Key&) const = default;
  };
  // Computed once per cursor, node and state of the capture; extent() and csv() ask for the same.
  const std::vector<Fact>& facts_at(const Scene& scene) const {
    Key key;
    if (const capture::Capture* const of = scene.capture)
      key = {of,
             scene.cursor,
             scene.focus.node(),
             of->phases().size(),
             static_cast<std::size_t>(of->counts().sequences),
             of->status()};
    if (!(key == made_for_)) facts_ = facts_of(scene, curves_);
    made_for_ = key;
    return facts_;
  }

  PageScroll scroll_;
  mutable Key made_for_;
  mutable std::vector<Fact> facts_;
  mutable MetricCurves curves_;
};

}  // namespace

std::unique_ptr<Panel> make_inspector_panel() { return std::make_unique<InspectorPanel>(); }

}  // namespace triescope::viz

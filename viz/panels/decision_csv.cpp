#include "viz/panels/decision_csv.h"

#include <cmath>
#include <sstream>

#include "viz/draw/node_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/beam_table.h"
#include "viz/panels/draw_table.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

struct Row {
  std::int32_t step = 0, node = -1, parent = -1, rank = -1, replacement = -1, token = -1,
               depth = -1, drafter_rank = -1;
  std::string text = {}, source = {}, verdict = {}, reason = {}, table = {}, stages = {},
              drafter_reason = {};
  float p = std::nanf(""), q = std::nanf(""), u = std::nanf(""), score = std::nanf(""),
        gap = std::nanf(""), p_final = std::nanf(""), from = std::nanf(""), to = std::nanf(""),
        final_score = std::nanf(""), drafter_q = std::nanf(""), drafter_score = std::nanf("");
};

std::string line_of(const Row& row) {
  const auto id = [](std::int32_t value) { return value < 0 ? "" : std::to_string(value); };
  const auto number = [](float value) { return csv_number(value); };
  std::ostringstream out;
  out << row.step << ',' << id(row.node) << ',' << id(row.parent) << ',' << csv_field(row.text)
      << ',' << row.source << ',' << csv_field(row.verdict) << ',' << number(row.p) << ','
      << number(row.q) << ',' << number(row.u) << ',' << (row.rank < 0 ? "" : id(row.rank + 1))
      << ',' << number(row.score) << ',' << number(row.gap) << ',' << id(row.replacement) << ','
      << csv_field(row.reason) << ',' << row.table << ',' << id(row.token) << ','
      << number(row.p_final) << ',' << csv_field(row.stages) << ',' << number(row.from) << ','
      << number(row.to) << ',' << number(row.final_score) << ',' << id(row.depth) << ','
      << number(row.drafter_q) << ',' << (row.drafter_rank < 0 ? "" : id(row.drafter_rank + 1))
      << ',' << number(row.drafter_score) << ',' << csv_field(row.drafter_reason) << '\n';
  return out.str();
}

float or_none(float value) { return value < 0 ? std::nanf("") : value; }

// The node may be missing: a decision made by hand can name nodes that the capture lacks.
std::int32_t depth_below(std::int32_t parent, const Scene& scene) {
  const auto nodes = scene.capture->nodes();
  return parent < 0 || static_cast<std::size_t>(parent) >= nodes.size()
             ? -1
             : nodes[static_cast<std::size_t>(parent)].depth + 1;
}

}  // namespace

std::string decision_csv_head() {
  return "step,node,parent,text,source,verdict,p,q,u,rank,score,gap,replacement,reason,"
         "table,token,p_final,stages,from,to,final_score,depth,drafter_q,drafter_rank,drafter_score,"
         "drafter_reason\n";
}

std::string verdict_csv(std::span<const capture::VerdictRow> rows, const std::string& table,
                        const Scene& scene, const DrafterViews& drafters) {
  std::string out;
  for (const capture::VerdictRow& row : rows) {
    const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(row.node)];
    const auto found = drafters.find(row.node);
    const DrafterView view = found == drafters.end() ? DrafterView{} : found->second;
    out += line_of({.step = capture::step_of(row.tick),
                    .node = row.node,
                    .parent = node.parent,
                    .rank = row.rank,
                    .replacement = row.replacement,
                    .token = node.token,
                    .depth = node.depth,
                    .drafter_rank = view.rank,
                    .text = node_text(scene, row.node),
                    .source = std::string(scene.capture->source_of(node)),
                    .verdict = capture::to_string(row.verdict),
                    .reason = reason_text(row, *scene.capture),
                    .table = table,
                    .drafter_reason = drafter_reason(view, row.verdict),
                    .p = or_none(row.p),
                    .q = or_none(row.q),
                    .u = or_none(row.u),
                    .score = row.score,
                    .gap = row.gap,
                    .drafter_q = view.q,
                    .drafter_score = view.score});
  }
  return out;
}

std::string beam_csv(const BeamDecision& decision, const Scene& scene) {
  std::string out;
  for (std::size_t i = 0; i < decision.choices.size(); ++i) {
    const BeamChoice& choice = decision.choices[i];
    out += line_of({.step = decision.step,
                    .node = choice.child,
                    .parent = choice.parent,
                    .rank = static_cast<std::int32_t>(i),
                    .token = choice.token,
                    .depth = depth_below(choice.parent, scene),
                    .text = token_text(scene.capture->piece(choice.token)),
                    .source = capture::to_string(capture::Source::kBeam),
                    .verdict = fate_text(choice.fate),
                    .table = "candidates",
                    .p = std::exp(choice.logprob),
                    .score = choice.score,
                    .gap = choice.chosen() ? choice.gap : -choice.gap});
  }
  for (const capture::SequenceRow& row : finished_hypotheses(scene))
    out += line_of({.step = capture::step_of(row.tick),
                    .node = row.node,
                    .text = row.node < 0 ? "" : node_text(scene, row.node),
                    .verdict = "finished",
                    .reason = finish_text(row.finish),
                    .table = "hypotheses",
                    .score = sum_of(row, scene),
                    .final_score = row.score});
  return out;
}

std::string draw_csv(const DrawDecision& decision, const Scene& scene) {
  std::string out;
  for (std::size_t i = 0; i < decision.tokens.size(); ++i) {
    const DrawToken& token = decision.tokens[i];
    const bool drawn = token.token == decision.token;
    std::string stages;
    for (std::size_t s = 0; s < decision.stages.size(); ++s)
      if (!std::isnan(token.p[s + 1]))
        stages += (stages.empty() ? "" : "; ") + stage_text(decision.stages[s]) + " " +
                  csv_number(token.p[s + 1]);
    const bool interval = !decision.gumbel && !std::isnan(token.at);
    out += line_of({.step = decision.step,
                    .node = drawn ? decision.child : -1,
                    .parent = decision.node,
                    .rank = static_cast<std::int32_t>(i),
                    .token = token.token,
                    .depth = depth_below(decision.node, scene),
                    .text = token_text(scene.capture->piece(token.token)),
                    .verdict = drawn                 ? "chosen"
                               : token.p.back() == 0 ? "cut"
                                                     : "",
                    .reason = drawn ? draw_sentence(decision, scene) : "",
                    .table = "draw",
                    .stages = stages,
                    .p = token.p.front(),
                    .q = token.q,
                    .u = drawn ? or_none(decision.u) : std::nanf(""),
                    .score = decision.gumbel ? token.at : std::nanf(""),
                    .p_final = token.p.back(),
                    .from = interval ? token.at : std::nanf(""),
                    .to = interval ? token.at + token.drawn_p : std::nanf("")});
  }
  return out;
}

}  // namespace triescope::viz

// The names with arguments. One class (Arguments) checks the arguments, so that a wrong step, node
// or rank reads alike everywhere.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "core/base/json_io.h"
#include "lessons/arguments.h"
#include "lessons/expert_functions.h"

namespace triescope::lessons {
namespace {

using capture::Tick;

double known(double value, const char* what) {
  if (std::isnan(value)) refuse_argument(std::string(what) + ": the run did not record it");
  return value;
}

// --- the run ---

Value setting(const Arguments& a) {
  const nlohmann::json all = json_or_discarded(a.capture.run().settings_json);
  const auto found = all.is_object() ? all.find(a.text(0)) : all.end();
  if (!all.is_object() || found == all.end())
    refuse_argument("the run's method has no setting '" + a.text(0) + "'");
  if (found->is_boolean()) return found->get<bool>();
  if (found->is_number()) return found->get<double>();
  if (found->is_string()) return found->get<std::string>();
  return found->dump();
}

Value prompt_token(const Arguments& a) {
  const std::vector<std::int32_t>& prompt = a.capture.run().prompt_tokens;
  const std::int32_t i = a.whole(0, "the number of a prompt token");
  if (i < 1 || i > static_cast<std::int32_t>(prompt.size()))
    refuse_argument("the prompt has tokens 1 to " + std::to_string(prompt.size()) + "; found " +
                    std::to_string(i));
  return std::string(a.capture.piece(prompt[static_cast<std::size_t>(i - 1)]));
}

// --- series ---

Value total(const Arguments& a) {
  double sum = 0;
  for (const capture::StepRow& row : a.capture.steps()) sum += a.series(0).at(a.capture, row.step);
  return sum;
}

struct Peak {
  double value = 0;
  std::int32_t step = 0;
};
Peak peak_of(const Arguments& a) {
  Peak peak;
  for (const capture::StepRow& row : a.capture.steps())
    if (const double value = a.series(0).at(a.capture, row.step); value > peak.value)
      peak = {value, row.step};
  return peak;
}

Value first_step(const Arguments& a) {
  for (const capture::StepRow& row : a.capture.steps())
    if (a.series(0).at(a.capture, row.step) > 0) return number(row.step);
  refuse_argument(std::string("no step of this run has ") + std::string(a.series(0).name));
}

// --- paths and nodes ---

Value path_text(const Arguments& a) {
  std::string text;
  for (const std::int32_t node : a.capture.path_to(a.node()))
    text += a.capture.piece(a.row(node).token);
  return text;
}

Value token(const Arguments& a) {
  const std::int32_t node = a.node();
  if (node == 0) refuse_argument("node 0 is the prompt, not a token; prompt_token(I) has those");
  return std::string(a.capture.piece(a.row(node).token));
}

Value child(const Arguments& a) {
  const std::int32_t node = a.node_number(0), i = a.whole(1, "the number of a child");
  const auto children = a.capture.children(node);
  if (i < 1 || i > static_cast<std::int32_t>(children.size()))
    refuse_argument("node " + std::to_string(node) + " has " +
                    counted(children.size(), "child node") + "; found number " + std::to_string(i));
  return number(children[static_cast<std::size_t>(i - 1)]);
}

Value is_ancestor(const Arguments& a) {
  const std::int32_t above = a.node_number(0);
  std::int32_t node = a.node_number(1);
  while (node > above) node = a.row(node).parent;
  return node == above;
}

// The node's slot at the end of a step.
Value slot(const Arguments& a) {
  const std::int32_t node = a.node_number(0), step = a.step(1);
  const std::int32_t slot =
      a.capture.slot_of(node, capture::make_tick(step + 1, capture::Phase::kDraft));
  if (slot < 0)
    refuse_argument("node " + std::to_string(node) + " has no slot after step " +
                    std::to_string(step));
  return number(slot);
}

// The node's latest verdict; for (PATH, STEP), the latest by the end of that step.
capture::VerdictRow verdict_of(const Arguments& a) {
  const std::int32_t node = a.node();
  const Tick by = a.size() > 1 ? capture::make_tick(a.step(1) + 1, capture::Phase::kDraft)
                               : a.capture.end_tick();
  const auto verdict = a.capture.verdict_at(node, by);
  if (!verdict) refuse_argument("nothing was decided about node " + std::to_string(node));
  return *verdict;
}

Value verdict_number(const Arguments& a, float capture::VerdictRow::*member, const char* what) {
  const float value = verdict_of(a).*member;
  if (value < 0) refuse_argument(std::string(what) + ": the decision about this node has none");
  return static_cast<double>(value);
}

// Whether one of the slots that a recorder says a row attended to held the node then.
bool held_by(const capture::Capture& capture, const capture::SeenRow& seen, std::int32_t node) {
  const capture::Tick behind = capture::make_tick(seen.step, capture::Phase::kAccept);
  for (std::size_t i = 0; i + 1 < seen.slots.size(); i += 2)
    for (std::int32_t slot = seen.slots[i]; slot <= seen.slots[i + 1]; ++slot)
      if (capture.slot_at(slot, behind).node == node) return true;
  return false;
}

// The input row of the forward through which a node went.
Value sees(const Arguments& a) {
  const std::int32_t node = a.node_number(0);
  const std::int32_t other = a.whole(1, "a node");
  for (std::int32_t step = capture::step_of(a.row(node).tick); step <= a.capture.last_step();
       ++step)
    for (const capture::InputRow& input : a.capture.inputs(step))
      if (input.node == node) {
        if (other >= 0) a.node_number(1);
        if (const capture::SeenRow* const seen = a.capture.seen(input))
          return held_by(a.capture, *seen, other);
        return a.capture.visible(input, other);
      }
  refuse_argument("node " + std::to_string(node) + " went through no forward of this run");
}

// --- candidates ---

const capture::CandidateRow& candidate(const Arguments& a) {
  const std::int32_t node = a.node_number(0), rank = a.whole(1, "a rank");
  const auto rows = a.capture.candidates(node, a.capture.end_tick());
  for (const capture::CandidateRow& row : rows)
    if (row.rank == rank - 1) return row;
  refuse_argument("node " + std::to_string(node) + " has candidates 1 to " +
                  std::to_string(rows.size()) + " in this capture; found " + std::to_string(rank));
}

Value stage_p(const Arguments& a) {
  const capture::CandidateRow& row = candidate(a);
  const Tick end = a.capture.end_tick();
  for (const capture::StageRow& stage : a.capture.stages(row.node, capture::step_of(row.tick), end))
    if (stage.token == row.token && to_string(stage.stage) == a.text(2))
      return static_cast<double>(stage.p);
  refuse_argument("the run recorded no stage '" + a.text(2) + "' of this token");
}

// The candidate's value in Gumbel-max's draw: its log p plus the noise.
capture::StageRow gumbel_row(const Arguments& a) {
  const nlohmann::json all = json_or_discarded(a.capture.run().settings_json);
  if (!all.is_object() || all.value("sampler", nlohmann::json()) != "gumbel")
    refuse_argument("the run did not draw with sampler=gumbel: its tokens have no noise");
  const capture::CandidateRow& row = candidate(a);
  for (const capture::StageRow& stage :
       a.capture.stages(row.node, capture::step_of(row.tick), a.capture.end_tick()))
    if (stage.token == row.token && stage.stage == capture::Stage::kDrawn && stage.p > 0 &&
        !std::isnan(stage.at))
      return stage;
  refuse_argument("this token was cut away before the draw: it has no noise");
}

// Number of tokens among the candidates that a stage leaves.
Value left(const Arguments& a) {
  const std::int32_t node = a.node_number(0);
  const Tick end = a.capture.end_tick();
  const auto candidates = a.capture.candidates(node, end);
  if (candidates.empty()) refuse_argument("node " + std::to_string(node) + " has no candidates");
  bool recorded = false;
  std::int64_t count = 0;
  for (const capture::StageRow& stage :
       a.capture.stages(node, capture::step_of(candidates.front().tick), end)) {
    if (to_string(stage.stage) != a.text(1)) continue;
    recorded = true;
    count += stage.p > 0;
  }
  if (!recorded) refuse_argument("the run recorded no stage '" + a.text(1) + "' of this node");
  return number(count);
}

// The token that a draw of `u` would have hit.
Value drawn(const Arguments& a) {
  const std::int32_t node = a.node_number(0);
  const double u = a.number(1);
  for (const std::int32_t child : a.capture.children(node))
    for (const capture::StageRow& stage :
         a.capture.stages(node, capture::step_of(a.row(child).tick), a.capture.end_tick())) {
      const auto from = static_cast<double>(stage.at), p = static_cast<double>(stage.p);
      if (stage.stage == capture::Stage::kDrawn && from <= u && u < from + p)
        return std::string(a.capture.piece(stage.token));
    }
  refuse_argument("no token that the run recorded lies at " + value_text(u) + " of node " +
                  std::to_string(node) + "'s strip");
}

// --- what the window shows ---

const Moment& moment(const Arguments& a) {
  if (!a.trace.moment) refuse_argument("what the window shows is known in a task's `when` alone");
  return *a.trace.moment;
}

Value shown(const Arguments& a) {
  const auto& panels = moment(a).panels;
  return std::find(panels.begin(), panels.end(), a.text(0)) != panels.end();
}

template <Value (*call)(const Arguments&)>
Value with(const Trace& trace, std::span<const Value> values) {
  return call(Arguments(trace, values));
}

constexpr Function kFunctions[] = {
    {"steps", "steps", 0, 0,
     with<[](const Arguments& a) { return number(a.capture.last_step()); }>},
    {"prompt_tokens", "prompt_tokens", 0, 0, with<[](const Arguments& a) {
       return number(static_cast<std::int64_t>(a.capture.run().prompt_tokens.size()));
     }>},
    {"prompt_token", "prompt_token(I)", 1, 1, with<prompt_token>},
    {"max_new_tokens", "max_new_tokens", 0, 0,
     with<[](const Arguments& a) { return number(a.capture.run().max_new_tokens); }>},
    {"kv_bytes", "kv_bytes", 0, 0,
     with<[](const Arguments& a) { return number(a.capture.run().kv_bytes_per_token); }>},
    {"vocabulary", "vocabulary", 0, 0,
     with<[](const Arguments& a) { return model_number(a, "vocab_size"); }>},
    {"layers", "layers", 0, 0, with<[](const Arguments& a) { return model_number(a, "layers"); }>},
    {"nodes", "nodes", 0, 0, with<[](const Arguments& a) {
       return number(static_cast<std::int64_t>(a.capture.nodes().size()) - 1);
     }>},
    {"setting", "setting(\"NAME\")", 1, 1, with<setting>},
    {"total", "total(SERIES)", 1, 1, with<total>},
    {"peak", "peak(SERIES)", 1, 1,
     with<[](const Arguments& a) { return Value(peak_of(a).value); }>},
    {"peak_step", "peak_step(SERIES)", 1, 1,
     with<[](const Arguments& a) { return number(peak_of(a).step); }>},
    {"first", "first(SERIES)", 1, 1, with<first_step>},
    {"node", "node(PATH, STEP)", 1, 2, with<[](const Arguments& a) { return number(a.node()); }>},
    {"token", "token(NODE) or token(PATH, STEP)", 1, 2, with<token>},
    {"text", "text(PATH) or text(PATH, STEP)", 1, 2, with<path_text>},
    {"p", "p(NODE) or p(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       return Value(std::exp(known(static_cast<double>(a.view(a.node()).row.logprob), "p")));
     }>},
    {"logp", "logp(NODE) or logp(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       return Value(known(static_cast<double>(a.view(a.node()).row.logprob), "logp"));
     }>},
    {"score", "score(NODE) or score(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       return Value(known(static_cast<double>(a.view(a.node()).row.score), "score"));
     }>},
    {"q", "q(NODE) or q(PATH, STEP)", 1, 2,
     with<[](const Arguments& a) { return Value(static_cast<double>(a.row(a.node()).q)); }>},
    {"u", "u(NODE) or u(PATH, STEP)", 1, 2,
     with<[](const Arguments& a) { return verdict_number(a, &capture::VerdictRow::u, "u"); }>},
    {"rank", "rank(NODE) or rank(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       const std::int32_t rank = verdict_of(a).rank;
       if (rank < 0) refuse_argument("rank: the decision about this node has none");
       return number(rank + 1);
     }>},
    {"gap", "gap(NODE) or gap(PATH, STEP)", 1, 2,
     with<[](const Arguments& a) { return Value(static_cast<double>(verdict_of(a).gap)); }>},
    {"verdict", "verdict(NODE) or verdict(PATH, STEP)", 1, 2,
     with<[](const Arguments& a) { return Value(std::string(to_string(verdict_of(a).verdict))); }>},
    {"depth", "depth(NODE) or depth(PATH, STEP)", 1, 2,
     with<[](const Arguments& a) { return number(a.row(a.node()).depth); }>},
    {"position", "position(NODE) or position(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       return number(static_cast<std::int64_t>(a.capture.run().prompt_tokens.size()) +
                     a.row(a.node()).depth - 1);
     }>},
    {"parent", "parent(NODE) or parent(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       const std::int32_t parent = a.row(a.node()).parent;
       if (parent < 0) refuse_argument("node 0 is the prompt, which has no parent");
       return number(parent);
     }>},
    {"children", "children(NODE) or children(PATH, STEP)", 1, 2, with<[](const Arguments& a) {
       return number(static_cast<std::int64_t>(a.capture.children(a.node()).size()));
     }>},
    {"child", "child(NODE, I)", 2, 2, with<child>},
    {"ancestor", "ancestor(NODE, NODE)", 2, 2, with<is_ancestor>},
    {"experts", "experts", 0, 0,
     with<[](const Arguments& a) { return model_number(a, "experts"); }>},
    {"experts_used", "experts_used", 0, 0,
     with<[](const Arguments& a) { return model_number(a, "experts_used"); }>},
    {"expert", "expert(NODE, LAYER, I)", 3, 3, with<expert>},
    {"expert_weight", "expert_weight(NODE, LAYER, I)", 3, 3, with<expert_weight>},
    {"experts_by_chance", "experts_by_chance(ROWS)", 1, 1, with<experts_of_rows>},
    {"weights_read", "weights_read(STEP)", 1, 1, with<weights_read>},
    {"weights_alone", "weights_alone(STEP)", 1, 1, with<weights_alone>},
    {"slot", "slot(NODE, STEP)", 2, 2, with<slot>},
    {"sees", "sees(NODE, NODE)", 2, 2, with<sees>},
    {"candidate", "candidate(NODE, RANK)", 2, 2, with<[](const Arguments& a) {
       return Value(std::string(a.capture.piece(candidate(a).token)));
     }>},
    {"candidate_p", "candidate_p(NODE, RANK)", 2, 2, with<[](const Arguments& a) {
       return Value(std::exp(static_cast<double>(candidate(a).logprob)));
     }>},
    {"stage_p", "stage_p(NODE, RANK, \"STAGE\")", 3, 3, with<stage_p>},
    {"left", "left(NODE, \"STAGE\")", 2, 2, with<left>},
    {"drawn", "drawn(NODE, U)", 2, 2, with<drawn>},
    {"noisy", "noisy(NODE, RANK)", 2, 2,
     with<[](const Arguments& a) { return Value(static_cast<double>(gumbel_row(a).at)); }>},
    {"noise", "noise(NODE, RANK)", 2, 2, with<[](const Arguments& a) {
       const capture::StageRow row = gumbel_row(a);
       return Value(static_cast<double>(row.at) - std::log(static_cast<double>(row.p)));
     }>},
    {"cursor", "cursor", 0, 0,
     with<[](const Arguments& a) { return number(capture::step_of(moment(a).cursor)); }>},
    {"phase", "phase", 0, 0, with<[](const Arguments& a) {
       return Value(std::string(to_string(capture::phase_of(moment(a).cursor))));
     }>},
    {"focus", "focus", 0, 0, with<[](const Arguments& a) { return number(moment(a).focus); }>},
    {"shown", "shown(\"PANEL\")", 1, 1, with<shown>},
};

}  // namespace

std::span<const Function> function_list() { return kFunctions; }

Value series_at(const Trace& trace, std::size_t index, std::span<const Value> arguments) {
  const Arguments a(trace, arguments);
  return series_list()[index].at(a.capture, a.step(0));
}

}  // namespace triescope::lessons

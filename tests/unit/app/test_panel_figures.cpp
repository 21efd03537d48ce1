// Every number that the panels Candidates, Positions, Mask, Text, Log and Timeline show is counted
// again from a capture's rows: over runs of several methods, at every cursor, forward and back in
// the same panel.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "core/capture/capture.h"
#include "core/capture/metric_names.h"
#include "tests/unit/app/recorded_run.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/panel.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::test::test_panel_figures {
namespace {

using Panels = std::map<std::string, std::unique_ptr<viz::Panel>>;
constexpr viz::Rect kArea{0, 0, 1100, 700};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::int64_t count_of(const RecordingCanvas& canvas, const std::string& text) {
  return std::ranges::count_if(canvas.texts, [&](const auto& one) { return one.text == text; });
}

const NodeRow& node_of(const Capture& run, std::int32_t node) {
  return run.nodes()[static_cast<std::size_t>(node)];
}

// The node and its ancestors, nearest first, without the prompt.
std::vector<std::int32_t> line_to(const Capture& run, std::int32_t node) {
  std::vector<std::int32_t> line;
  for (; node > 0; node = node_of(run, node).parent) line.push_back(node);
  return line;
}

Phase forward_of(Whose whose) { return whose == Whose::kTarget ? Phase::kForward : Phase::kDraft; }

// The step's inputs that are nodes, once the cursor has seen their forward.
std::vector<InputRow> inputs_seen(const Capture& run, Whose whose, Tick cursor) {
  std::vector<InputRow> rows;
  const std::int32_t step = step_of(cursor - 1);
  if (make_tick(step, forward_of(whose)) >= cursor) return rows;
  for (const InputRow& row : run.inputs(step, whose))
    if (row.node > 0) rows.push_back(row);
  return rows;
}

std::string forward_text(const InputRow& row) {
  return row.whose == Whose::kTarget ? "" : std::to_string(row.forward) + ",";
}

void check_positions(const Capture& run, Whose whose, viz::Panel& panel, Tick cursor) {
  const auto rows = inputs_seen(run, whose, cursor);
  const viz::Scene scene = scene_at(run, cursor);
  const auto canvas = drawn(panel, scene, kArea);
  std::vector<std::string> wanted = {whose == Whose::kTarget
                                         ? "step,row,node,position,sequential_id"
                                         : "step,forward,row,node,position,sequential_id"};
  std::map<std::int32_t, int> sharing;
  const auto prompt = static_cast<std::int32_t>(run.run().prompt_tokens.size());
  std::int32_t held = 0;  // before the target's forward
  if (whose == Whose::kTarget)
    for (std::int32_t slot = 0;
         slot < run.slot_count_at(make_tick(step_of(cursor - 1), Phase::kForward)); ++slot)
      held += run.slot_at(slot, make_tick(step_of(cursor - 1), Phase::kForward)).state !=
              SlotState::kFree;
  for (const InputRow& row : rows) {
    const auto depth = static_cast<std::int32_t>(line_to(run, row.node).size());
    // A draft head's row has the position of the hidden state that it reads, one before its token.
    const std::int32_t less = whose == Whose::kHead ? 2 : 1;
    CHECK(row.position == prompt + depth - less);
    if (whose == Whose::kTarget && run.run().kv_policy != "batch")
      CHECK(row.naive_position == held + row.row);
    ++sharing[row.position];
    wanted.push_back(std::to_string(row.step) + "," + forward_text(row) + std::to_string(row.row) +
                     "," + std::to_string(row.node) + "," + std::to_string(row.position) + "," +
                     std::to_string(row.naive_position));
  }
  CHECK(lines_of(panel.csv(scene)) == wanted);
  std::map<std::string, std::int64_t> labels;  // how many bands have each label
  for (const auto& [position, count] : sharing)
    if (count > 1) ++labels[std::to_string(count)];
  std::int64_t bands = 0;
  for (const auto& [count, times] : labels) {
    // Where bands stand too close, none has a label.
    const std::int64_t told = count_of(canvas, count + " share it") + count_of(canvas, "×" + count);
    CHECK((told == times || told == 0));
    bands += told;
  }
  CHECK(std::ranges::count_if(canvas.texts, [](const auto& text) {
          return text.text.ends_with(" share it") || text.text.starts_with("×");
        }) == bands);
  // The tooltip's sum is right for every row under the mouse.
  for (float y = 40; y < kArea.h; y += 12) {
    const auto tip = panel.input(mouse_at({600, y}), kArea, scene);
    if (!tip.hover || *tip.hover <= 0 || tip.tooltip.size() < 2) continue;
    const auto row = std::ranges::find(rows, *tip.hover, &InputRow::node);
    REQUIRE(row != rows.end());
    const std::string less = whose == Whose::kHead ? " − 2" : " − 1";
    const auto depth = line_to(run, row->node).size();
    CHECK(tip.tooltip[1] == "position = prompt tokens + depth" + less + " = " +
                                std::to_string(prompt) + " + " + std::to_string(depth) + less +
                                " = " + std::to_string(row->position));
  }
}

void check_mask(const Capture& run, Whose whose, viz::Panel& panel, Tick cursor) {
  const std::int32_t step = step_of(cursor - 1);
  const Tick forward = make_tick(step, forward_of(whose));
  const auto rows = inputs_seen(run, whose, cursor);
  const viz::Scene scene = scene_at(run, cursor);
  drawn(panel, scene, kArea);
  const auto table = lines_of(panel.csv(scene));
  if (rows.empty()) {
    // Prefill has rows of the prompt. Before its forward a step has none.
    CHECK((forward >= cursor ? table.size() == 1 : table.size() >= 1));
    return;
  }
  REQUIRE(table.size() == rows.size() + 1);
  std::set<std::int32_t> held;  // nodes with KV while the forward runs
  for (std::int32_t slot = 0; slot < run.slot_count_at(forward + 1, whose); ++slot)
    if (const SlotView view = run.slot_at(slot, forward + 1, whose); view.state != SlotState::kFree)
      held.insert(view.node);
  for (const InputRow& row : rows) held.insert(row.node);
  const std::int32_t window = whose == Whose::kTarget ? run.run().sliding_window : 0;
  const auto prompt = static_cast<std::int32_t>(run.run().prompt_tokens.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const InputRow& row = rows[i];
    std::set<std::int32_t> wanted;
    for (const std::int32_t node : line_to(run, row.node)) {
      const auto position = prompt + static_cast<std::int32_t>(line_to(run, node).size()) - 1;
      if (held.contains(node) && (window <= 0 || row.position - position < window))
        wanted.insert(node);
    }
    std::istringstream line(table[i + 1].substr(table[i + 1].rfind(',') + 1));
    std::set<std::int32_t> told;
    for (std::int32_t node = 0; line >> node;) told.insert(node);
    CHECK(told == wanted);
    const std::string head = std::to_string(row.step) + "," + forward_text(row) +
                             std::to_string(row.row) + "," + std::to_string(row.node) + "," +
                             std::to_string(row.position) + "," + std::to_string(row.slot) + ",";
    CHECK(table[i + 1].starts_with(head));
    // True if the prompt's first token is within the window.
    const bool sees = window <= 0 || row.position < window;
    CHECK(table[i + 1].substr(head.size(), 1) == (sees ? "1" : "0"));
  }
}

// True unless the draft was verified and not refused: then it is a child of the target's row.
bool fell(const Capture& run, const NodeRow& node, Tick cursor) {
  if (!is_draft(node)) return false;
  bool refused = true;
  for (const StepRow& step : run.steps())
    for (const VerdictRow& row : run.verdicts(step.step))
      if (row.node == node.node && row.tick < cursor)
        refused = row.verdict == Verdict::kRejected || row.verdict == Verdict::kWithdrawn;
  return refused;
}

void check_candidates(const Capture& run, Whose whose, viz::Panel& panel, Tick cursor) {
  for (const NodeRow& node : run.nodes_at(cursor)) {
    std::vector<CandidateRow> rows;
    for (const CandidateRow& row : run.candidates(node.node, cursor, whose)) {
      CHECK(row.tick < cursor);
      rows.push_back(row);
    }
    if (rows.empty()) continue;
    CAPTURE(node.node);
    viz::Scene scene = scene_at(run, cursor);
    scene.focus.locked = node.node;
    const auto canvas = drawn(panel, scene, kArea);
    double mass = 0;
    std::vector<std::string> wanted = {"node,rank,token,text,logprob,p,chosen"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].rank == static_cast<std::int32_t>(i));
      const double p = std::exp(static_cast<double>(rows[i].logprob));
      mass += p;
      CHECK(find(canvas, viz::number_text(p, 4)));
      CHECK(find(canvas, viz::logprob_text(rows[i].logprob)));
      bool became = rows[i].chosen;
      for (const NodeRow& child : run.nodes())
        became |= whose == Whose::kTarget && child.node > 0 && child.parent == node.node &&
                  child.token == rows[i].token && child.tick < cursor && !fell(run, child, cursor);
      const auto line = lines_of(panel.csv(scene));
      REQUIRE(line.size() == rows.size() + 1);
      if (whose == Whose::kTarget) CHECK(line[i + 1].back() == (became ? '1' : '0'));
      CHECK(line[i + 1].starts_with(std::to_string(node.node) + "," + std::to_string(rows[i].rank) +
                                    "," + std::to_string(rows[i].token) + ","));
    }
    CHECK(find(canvas, "shown: " + viz::number_text(mass * 100, 1) +
                           " % of the probability; ✓ became children"));
    // A low pane counts the rows that it leaves out.
    const auto low = drawn(panel, scene, {0, 0, 1100, 14 * 6.2f});
    std::size_t told = 0;
    for (const CandidateRow& row : rows)
      told += find(low, viz::logprob_text(row.logprob)) != nullptr;
    if (told < rows.size())
      CHECK(std::ranges::any_of(low.texts, [&](const auto& text) {
        return text.text.starts_with("+ ") && std::stoul(text.text.substr(2)) > 0 &&
               std::stoul(text.text.substr(2)) >= rows.size() - told;
      }));
  }
}

// The live texts come from the frontier of the newest step whose accept phase the cursor has seen,
// or at the end from the returned sequences.
void check_text(const Capture& run, viz::Panel& panel, Tick cursor) {
  const viz::Scene scene = scene_at(run, cursor);
  drawn(panel, scene, kArea);
  std::vector<std::string> wanted;
  const auto text_of = [&](std::int32_t node) {
    auto line = line_to(run, node);
    std::ranges::reverse(line);
    std::string text;
    for (const std::int32_t one : line) text += run.piece(node_of(run, one).token);
    return viz::csv_field(viz::plain_text(text));
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> ranked;
  for (const SequenceRow& row : run.sequences())
    if (row.tick < cursor && row.rank >= 0) ranked.emplace_back(row.rank, row.node);
  if (ranked.empty()) {
    std::int32_t step = -1;
    for (const StepRow& row : run.steps())
      if (make_tick(row.step, Phase::kAccept) < cursor) step = row.step;
    if (step < 0) return;
    for (const FrontierRow& row : run.frontier(step)) ranked.emplace_back(row.rank, row.node);
    if (ranked.empty()) return;  // the last step has only what it finished
  }
  std::ranges::sort(ranked);
  for (const auto& [rank, node] : ranked) wanted.push_back(text_of(node));
  const auto table = lines_of(panel.csv(scene));
  REQUIRE(table.size() == wanted.size() + 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(table[i + 1].ends_with("," + wanted[i]));
}

void check_log(const Capture& run, viz::Panel& panel, Tick cursor) {
  const viz::Scene scene = scene_at(run, cursor);
  const auto canvas = drawn(panel, scene, kArea);
  std::size_t rows = 0;
  for (const LogRow& row : run.log()) {
    if (row.tick >= cursor) continue;
    ++rows;
    CHECK(panel.csv(scene).find(std::to_string(step_of(row.tick)) + "," +
                                to_string(phase_of(row.tick)) + ",") != std::string::npos);
    CHECK(std::ranges::any_of(canvas.texts, [&](const auto& text) {
      return text.text.starts_with("step " + std::to_string(step_of(row.tick)));
    }));
  }
  CHECK(lines_of(panel.csv(scene)).size() == rows + 1);
}

void check_timeline(const Capture& run, viz::Panel& panel, Tick cursor) {
  viz::Scene scene = scene_at(run, cursor);
  drawn(panel, scene, kArea);
  const bool has_figures = !run.metrics().empty() && run.metrics().front().tick < cursor;
  for (const bool within : {false, true}) {
    if (within) scene.range = {1, 2};
    const auto is_shown = [&](Tick tick) {
      return tick < cursor && (!within || (step_of(tick) >= 1 && step_of(tick) <= 2));
    };
    std::vector<std::string> wanted = {std::string("step,phase,start_us,duration_us") +
                                       (has_figures ? ",metric,node,value" : "")};
    for (const PhaseRow& row : run.phases())
      if (is_shown(row.tick))
        wanted.push_back(std::to_string(step_of(row.tick)) + "," + to_string(phase_of(row.tick)) +
                         "," + std::to_string(row.start_us) + "," +
                         std::to_string(row.duration_us) + (has_figures ? ",,," : ""));
    for (const MetricRow& row : run.metrics())
      if (is_shown(row.tick))
        wanted.push_back(std::to_string(step_of(row.tick)) + "," + to_string(phase_of(row.tick)) +
                         ",,," + viz::csv_field(row.name) + "," +
                         (row.node == -1 ? "" : std::to_string(row.node)) + "," +
                         viz::csv_double(row.value));
    CHECK(lines_of(panel.csv(scene)) == wanted);
  }
  scene.range = {};
  std::set<std::string> told;
  for (float x = 60; x < kArea.w; x += 20) {
    const auto tip = panel.input(mouse_at({x, 400}), kArea, scene).tooltip;
    if (tip.empty() || !told.insert(tip[0]).second) continue;
    const std::int32_t step = std::stoi(tip[0].substr(5));
    std::vector<std::string> wanted = {"step " + std::to_string(step)};
    for (const PhaseRow& row : run.phases())
      if (step_of(row.tick) == step && row.tick < cursor)
        wanted.push_back(std::string(to_string(phase_of(row.tick))) + "  " +
                         viz::duration_text(static_cast<double>(row.duration_us)));
    const auto row = run.step(step);
    REQUIRE(row);
    std::set<std::pair<std::int32_t, std::int32_t>> forward_rows;
    for (const InputRow& input : run.inputs(step)) forward_rows.insert({input.forward, input.row});
    if (step > 0) CHECK(static_cast<std::int32_t>(forward_rows.size()) == row->forward_rows);
    if (cursor > make_tick(step, Phase::kForward)) {
      wanted.push_back(counted(row->forward_rows, "row"));
      if (cursor > make_tick(step, Phase::kAccept))
        wanted.back() += ", " + counted(row->emitted, "token") + " emitted";
    } else if (step > scene.shown_step()) {
      wanted.push_back("the cursor has not seen this step yet");
    }
    for (const MetricRow& figure : run.metrics())
      if (step_of(figure.tick) == step && figure.tick < cursor && is_curve(figure.name))
        wanted.push_back(figure.name + "  " + viz::number_text(figure.value, 0));
    CHECK(tip == wanted);
  }
}

void check_run(const Capture& run) {
  for (const Whose whose : run.owners()) {
    CAPTURE(to_string(whose));
    Panels panels;  // kept from cursor to cursor, so that a stale state would show
    for (const char* name : {"candidates", "positions", "mask", "text", "log", "timeline"}) {
      panels[name] = viz::make_panel(name);
      if (whose != Whose::kTarget)
        panels[name]->set_view_state("whose=" + std::string(to_string(whose)));
    }
    std::vector<Tick> cursors;
    for (Tick cursor = 1; cursor <= run.end_tick(); ++cursor) cursors.push_back(cursor);
    for (Tick cursor = run.end_tick(); cursor >= 1; cursor -= 3) cursors.push_back(cursor);
    for (const Tick cursor : cursors) {
      CAPTURE(cursor);
      check_positions(run, whose, *panels["positions"], cursor);
      check_mask(run, whose, *panels["mask"], cursor);
      check_candidates(run, whose, *panels["candidates"], cursor);
      if (whose != Whose::kTarget) continue;
      check_text(run, *panels["text"], cursor);
      check_log(run, *panels["log"], cursor);
      check_timeline(run, *panels["timeline"], cursor);
    }
  }
}

void check_method(const char* name, json given, FakeOptions model = chained()) {
  CAPTURE(name);
  const TempDir dir;
  const std::string path = record({.method = name,
                                   .settings = settings_of(find_method(name), std::move(given)),
                                   .model = model,
                                   .max_new_tokens = 10},
                                  dir);
  REQUIRE(!path.empty());
  check_run(*Capture::open(path));
}

TEST_CASE("panel figures: a method that drafts from the text") {
  check_method("prompt_lookup", {});
  check_method("ngram_trie", {});
}
TEST_CASE("panel figures: beam search, with every KV policy") {
  for (const char* policy : {"batch", "keep", "compact", "recycle"})
    check_method("beam", {{"num_beams", 3}, {"kv", policy}, {"gc_every", 3}});
}
TEST_CASE("panel figures: sampling") {
  check_method("greedy", {});
  check_method("sample", {{"temperature", 1.5}});
}
TEST_CASE("panel figures: a model with a sliding window") {
  FakeOptions model = chained();
  model.sliding_window = 6;
  check_method("ngram_trie", {}, model);
  model.all_layers_slide = true;
  check_method("beam", {{"num_beams", 3}}, model);
}
TEST_CASE("panel figures: a draft model, and a draft head") {
  check_method("draft_model", {});
  check_method("eagle2", {});
}

}  // namespace
}  // namespace triescope::test::test_panel_figures

// The figures of drafts and decisions, over whole runs of many methods. The Decision and Drafts
// panels, their tables, the status line and the exported data agree with the capture's rows at
// every cursor, and show nothing that the cursor has not seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "core/capture/capture.h"
#include "tests/unit/app/recorded_run.h"
#include "tests/unit/viz/looking.h"
#include "viz/export/run_data.h"
#include "viz/panels/level_history.h"
#include "viz/panels/panel.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::test::test_draft_figures {
namespace {

// The figures of a step, counted row by row before a cursor.
struct Figures {
  int drafted = 0, withdrawn = 0, accepted = 0, emitted = 0;
  bool decided = false;
};

Figures figures_of(const Capture& run, std::int32_t step, Tick cursor) {
  Figures found;
  found.decided = cursor > make_tick(step, Phase::kAccept);
  // The forward reads the drafts that were sent and the frontier, whenever it comes.
  std::set<std::int32_t> frontier;
  if (step > 0)
    for (const FrontierRow& row : run.frontier(step - 1)) frontier.insert(row.node);
  if (step > 0)
    for (const InputRow& row : run.inputs(step)) found.drafted += !frontier.contains(row.node);
  for (const VerdictRow& row : run.verdicts(step)) {
    if (row.tick >= cursor) continue;
    found.withdrawn += row.verdict == Verdict::kWithdrawn;
    found.accepted += row.verdict == Verdict::kAccepted;
    found.emitted += row.verdict == Verdict::kAccepted || row.verdict == Verdict::kBonus ||
                     row.verdict == Verdict::kCorrected || row.verdict == Verdict::kEmitted;
  }
  return found;
}

bool says(const RecordingCanvas& canvas, const std::string& begin) {
  return std::ranges::any_of(canvas.texts,
                             [&](const auto& text) { return text.text.starts_with(begin); });
}

void check_cursor(const Capture& run, Tick cursor) {
  CAPTURE(cursor);
  const std::int32_t step = step_of(cursor - 1);
  const Figures right = figures_of(run, step, cursor);
  const viz::StepSoFar found = viz::step_so_far(run, step, cursor);
  CHECK(found.drafted == right.drafted);
  CHECK(found.withdrawn == right.withdrawn);
  CHECK(found.decided == right.decided);
  CHECK(found.accepted == right.accepted);
  CHECK(viz::drafts_text(found) == (right.drafted == 0 ? ""
                                    : right.decided ? "accepted " + std::to_string(right.accepted) +
                                                          " of " + std::to_string(right.drafted)
                                                    : counted(right.drafted, "draft")));
  const auto row = run.step(step);
  const bool text = std::ranges::none_of(run.verdicts(step), [](const VerdictRow& verdict) {
    return verdict.verdict == Verdict::kKept || verdict.verdict == Verdict::kPruned;
  });
  if (row && right.decided && text) {
    CHECK(found.drafted == row->drafted);
    CHECK(found.accepted == row->accepted);
    CHECK(found.emitted == row->emitted);
    if (right.emitted > 0) CHECK(found.emitted == right.emitted);
  }
  if (right.drafted == 0 || !text) return;
  const viz::Scene scene = scene_at(run, cursor);
  const viz::Rect area{0, 0, 1100, 700};
  const std::string head = "step " + std::to_string(step) + ": ",
                    drafts = counted(right.drafted, "draft");
  const auto decision = viz::make_panel("verdict"), levels = viz::make_panel("drafts");
  const auto canvas = drawn(*decision, scene, area);
  CHECK(says(canvas, right.decided
                         ? head + std::to_string(right.accepted) + " of " + drafts + " accepted, " +
                               counted(right.emitted, "token") + " emitted"
                         : head + drafts + " to verify"));
  const auto chips = drawn(*levels, scene, area);
  CHECK(says(chips, right.withdrawn > 0
                        ? head + std::to_string(right.drafted + right.withdrawn) + " proposed on "
                        : head + drafts + " on "));
  // The mean of the steps that the cursor has seen, without prefill.
  int steps = 0;
  double sum = 0;
  for (const StepRow& other : run.steps())
    if (other.step > 0 && cursor > make_tick(other.step, Phase::kAccept))
      ++steps, sum += other.accepted;
  if (const std::string mean = "mean " + viz::number_text(sum / std::max(1, steps), 2); steps > 0)
    CHECK((says(canvas, "steps by accepted, " + mean + " of " + counted(steps, "step")) ||
           says(canvas, mean + ", n " + std::to_string(steps))));
  const std::string csv = decision->csv(scene);
  const auto count = [&](const std::string& word) {
    int found_rows = 0;
    for (std::size_t at = csv.find(word); at != std::string::npos; at = csv.find(word, at + 1))
      ++found_rows;
    return found_rows;
  };
  CHECK(count(",accepted,") == right.accepted);
  if (!right.decided) CHECK(count(",rejected,") == 0);
}

// Counts by level, from the exported lines: reached, accepted, and the comparisons with the text.
void check_levels(const Capture& run) {
  std::map<int, viz::LevelShares> right;
  std::vector<std::int32_t> text;  // the run's
  for (const SequenceRow& row : run.sequences())
    if (row.rank == 0) text = row.tokens;
  for (const StepRow& step : run.steps()) {
    const json line = json::parse(viz::step_line(run, step.step, false));
    std::set<std::vector<int>> accepted = {{}}, parents;
    std::map<int, std::set<int>> proposed;  // tokens by level
    int sent = 0, came_true = 0, withdrawn = 0;
    int depth = 0;  // the frontier's
    if (step.step > 0)
      depth = run.nodes()[static_cast<std::size_t>(run.frontier(step.step - 1).front().node)].depth;
    for (const json& draft : line["drafts"])
      if (draft["verdict"] == "accepted") accepted.insert(draft["path"].get<std::vector<int>>());
    for (const json& draft : line["drafts"]) {
      auto path = draft["path"].get<std::vector<int>>();
      const auto level = static_cast<int>(path.size());
      proposed[level].insert(path.back());
      came_true += draft["verdict"] == "accepted";
      withdrawn += draft["verdict"] == "withdrawn";
      if (draft["verdict"] == "accepted") CHECK(draft["text"] == true);
      if (draft["verdict"] == "rejected") CHECK(draft["text"] == false);
      if (draft["verdict"] == "withdrawn") continue;
      ++sent;
      right[level].accepted += draft["verdict"] == "accepted";
      path.pop_back();
      if (accepted.contains(path)) right[level].reached += parents.insert(path).second;
    }
    CHECK(came_true == step.accepted);
    CHECK(sent == step.drafted);
    CHECK(line["accepted"] == step.accepted);
    CHECK(line["emitted"].size() == static_cast<std::size_t>(step.emitted));
    CHECK(withdrawn == figures_of(run, step.step, run.end_tick()).withdrawn);
    for (const auto& [level, tokens] : proposed) {
      const auto at = static_cast<std::size_t>(depth + level - 1);
      if (at >= text.size()) continue;
      ++right[level].guesses;
      right[level].any += tokens.contains(text[at]);
      right[level].used += accepted.contains(std::vector<int>(
          text.begin() + depth, text.begin() + static_cast<std::ptrdiff_t>(at) + 1));
    }
  }
  viz::LevelHistory history;
  const auto shares = history.shares(scene_at(run, run.end_tick()));
  for (const viz::LevelShares& found : shares) {
    CAPTURE(found.level);
    const viz::LevelShares& wanted = right[found.level];
    CHECK(found.reached == wanted.reached);
    CHECK(found.accepted == wanted.accepted);
    CHECK(found.guesses == wanted.guesses);
    CHECK(found.any == wanted.any);
    CHECK(found.used == wanted.used);
  }
  CHECK(shares.size() ==
        static_cast<std::size_t>(std::ranges::count_if(right, [](const auto& level) {
          return level.second.reached + level.second.guesses > 0;
        })));
}

TEST_CASE("draft figures: panels, tables, status line and exported data say what the rows say") {
  int drafting = 0, withdrawing = 0;
  for (const char* name : {"greedy", "beam", "ngram_trie", "prompt_lookup", "lookahead", "medusa",
                           "hydra", "eagle", "eagle2", "eagle3", "draft_model"}) {
    CAPTURE(name);
    const MethodInfo& method = find_method(name);
    for (const char* verify : {"greedy", "sample", "typical"}) {
      CAPTURE(verify);
      for (const bool ends : {false, true}) {
        FakeOptions model = chained();
        if (ends) {
          model.chain.clear();
          model.eos_token_ids = {8};
          model.eos_boost = 1;
        }
        const TempDir dir;
        const std::string path =
            record({.method = name,
                    .settings = settings_of(method, {{"verify", verify}, {"num_beams", 3}}),
                    .model = model},
                   dir);
        if (path.empty()) continue;
        const auto run = Capture::open(path);
        for (Tick cursor = 1; cursor <= run->end_tick(); ++cursor) check_cursor(*run, cursor);
        if (!method.drafts()) continue;
        check_levels(*run);
        for (const StepRow& step : run->steps()) {
          drafting += step.drafted > 0;
          withdrawing += figures_of(*run, step.step, run->end_tick()).withdrawn > 0;
        }
      }
      if (!method.drafts()) break;
    }
  }
  CHECK(drafting > 50);
  CHECK(withdrawing > 5);
}

}  // namespace
}  // namespace triescope::test::test_draft_figures

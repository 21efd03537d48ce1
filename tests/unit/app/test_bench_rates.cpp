// The rates that `triescope bench` prints, computed again from the rows of captures of the same runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "core/base/words.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/unit/app/recorded_run.h"

namespace triescope::app::test_bench_rates {
namespace {

using capture::Capture;
using test::FakeModel;
using test::FakeOptions;
using test::FakeTokenizer;

const std::vector<BenchPrompt> kPrompts = {{"loops", "<5> <6> <7> <3> <5> <6> <4> <7> <3>"},
                                           {"loops", "<6> <7> <5> <6> <7>"},
                                           {"words", "<1> <2> <3> <1> <2> <4> <1> <2>"}};

// Reads the texts that it writes: "<5> <6> ".
class ReadingTokenizer : public FakeTokenizer {
 public:
  using FakeTokenizer::FakeTokenizer;
  std::vector<std::int32_t> encode(std::string_view text, bool) const override {
    std::vector<std::int32_t> ids;
    for (const std::string& word : words(text)) ids.push_back(std::stoi(word.substr(1)));
    return ids;
  }
};

struct Machine {
  FakeOptions options = test::chained();
  FakeModel model{options};
  ReadingTokenizer tokenizer{options.vocab_size, options.eos_token_ids};
  test::TempDir dir;

  std::shared_ptr<Capture> recorded(const BenchPrompt& prompt, const std::string& method,
                                    const nlohmann::json& settings, int max_new_tokens) {
    const std::string path = dir.path() / "run.tscap";
    RunConfig config;
    config.method = method;
    config.settings = settings;
    config.prompt_tokens = bench_tokens(tokenizer, prompt, 1024);
    config.max_new_tokens = max_new_tokens;
    {
      const auto recorder = capture::open_recorder(path, {});
      run_recorded(model, tokenizer, std::move(config), *recorder);
    }
    return Capture::open(path);
  }
};

TEST_CASE("bench rates: tokens a forward and accepted drafts a step are those of the rows") {
  Machine machine;
  constexpr int kNew = 24;
  DraftBenchOptions options;
  options.methods = {{"greedy"}, {"prompt_lookup"}, {"ngram_trie:num_draft=6"}};
  options.max_new_tokens = kNew;
  const std::vector<DraftCost> table =
      measure_drafting(machine.model, machine.tokenizer, kPrompts, options, {});
  REQUIRE(table.size() == 3 * 3);  // loops, words, all
  int drafted_more = 0;
  for (const DraftCost& cost : table) {
    CAPTURE(cost.category);
    CAPTURE(cost.method);
    const std::string name = cost.method.substr(0, cost.method.find(':'));
    nlohmann::json settings = nlohmann::json::object();
    if (name == "ngram_trie") settings = {{"num_draft", 6}};
    double emitted = 0, forwards = 0, accepted = 0, steps = 0;
    int prompts = 0, equal = 0;
    for (const BenchPrompt& prompt : kPrompts) {
      if (cost.category != "all" && cost.category != prompt.category) continue;
      const auto run = machine.recorded(prompt, name, settings, kNew);
      const auto greedy = machine.recorded(prompt, "greedy", nlohmann::json::object(), kNew);
      ++prompts;
      for (const capture::PhaseRow& phase : run->phases())
        forwards += capture::phase_of(phase.tick) == capture::Phase::kForward;
      for (std::int32_t step = 0; step <= run->last_step(); ++step) {
        emitted += run->step(step)->emitted;
        accepted += run->step(step)->accepted;
        steps += step > 0;
      }
      equal += run->sequences().back().tokens == greedy->sequences().back().tokens;
    }
    CHECK(cost.prompts == prompts);
    CHECK(cost.equal == equal);
    CHECK(cost.equal == prompts);
    CHECK(cost.tokens_per_forward == doctest::Approx(emitted / forwards).epsilon(1e-12));
    CHECK(cost.accepted_per_step == doctest::Approx(accepted / steps).epsilon(1e-12));
    if (name == "greedy") {
      CHECK(cost.tokens_per_forward == 1);
      CHECK(cost.accepted_per_step == 0);
      CHECK(cost.speedup == 1);
      CHECK(cost.decode_speedup == 1);
    }
    drafted_more += cost.accepted_per_step > 0.5;
  }
  CHECK(drafted_more >= 4);
}

// A row for each KV policy.
std::vector<BeamCost> beam_table(Machine& machine, int beams, int length) {
  BeamBenchOptions options;
  options.num_beams = {beams};
  options.lengths = {length};
  return measure_beams(machine.model, machine.tokenizer, kPrompts, options, {});
}

TEST_CASE("bench rates: beam search's KV figures are those of the memory's rows") {
  Machine machine;
  const std::vector<BeamCost> table = beam_table(machine, 3, 10);
  REQUIRE(table.size() == 4);
  for (const BeamCost& cost : table) {
    CAPTURE(cost.policy);
    const bool is_batch = cost.policy == "batch";
    double live = 0, garbage = 0, reserved = 0, held_over_batch = 0;
    for (const BenchPrompt& prompt : kPrompts) {
      nlohmann::json settings = {{"num_beams", 3}};
      if (!is_batch) settings["kv"] = cost.policy;
      const auto run = machine.recorded(prompt, is_batch ? "batch_beam" : "beam", settings, 10);
      std::int32_t most_live = 0, most_garbage = 0, most_reserved = 0, most_batch = 0;
      for (const capture::MemoryRow& row : run->memory(capture::Whose::kTarget)) {
        most_live = std::max(most_live, row.live);
        most_garbage = std::max(most_garbage, row.garbage);
        most_reserved = std::max(most_reserved, row.reserved);
        most_batch = std::max(most_batch, row.batch_beam);
      }
      live += most_live;
      garbage += most_garbage;
      reserved += most_reserved;
      held_over_batch += static_cast<double>(most_live) / most_batch;
    }
    const auto prompts = static_cast<double>(kPrompts.size());
    CHECK(cost.prompts == static_cast<int>(prompts));
    CHECK(cost.equal_to_batch);
    // Peaks within a step, before its commit, are at least those that rows have of its end.
    CHECK(cost.peak_live >= live / prompts - 1e-9);
    CHECK(cost.peak_garbage >= garbage / prompts - 1e-9);
    CHECK(cost.peak_reserved >= reserved / prompts - 1e-9);
    CHECK(cost.over_batch >= held_over_batch / prompts - 1e-9);
  }
}

TEST_CASE("bench rates: saved tokens and collections are those of the recorded rows") {
  Machine machine;
  const std::vector<BeamCost> table = beam_table(machine, 4, 40);
  REQUIRE(table.size() == 4);
  for (const BeamCost& cost : table) {
    CAPTURE(cost.policy);
    const bool is_batch = cost.policy == "batch";
    nlohmann::json settings = {{"num_beams", 4}};
    if (!is_batch) settings["kv"] = cost.policy;
    double collections = 0, batch = 0;
    for (const BenchPrompt& prompt : kPrompts) {
      const auto run = machine.recorded(prompt, is_batch ? "batch_beam" : "beam", settings, 40);
      std::set<std::int32_t> steps;  // after prefill
      for (const capture::SlotRow& slot : run->slot_events(capture::Whose::kTarget))
        if ((slot.action == capture::SlotAction::kMove ||
             slot.action == capture::SlotAction::kFree) &&
            capture::step_of(slot.tick) > 0 &&
            capture::phase_of(slot.tick) == capture::Phase::kCommit)
          steps.insert(capture::step_of(slot.tick));
      std::int32_t most_batch = 0;
      for (const capture::MemoryRow& row : run->memory(capture::Whose::kTarget))
        most_batch = std::max(most_batch, row.batch_beam);
      collections += static_cast<double>(
          cost.policy == "recycle" ? static_cast<std::size_t>(run->last_step()) : steps.size());
      batch += most_batch;
    }
    const auto prompts = static_cast<double>(kPrompts.size());
    if (cost.policy == "compact" || cost.policy == "recycle")
      CHECK(cost.collections == doctest::Approx(collections / prompts));
    if (cost.policy == "keep") CHECK(std::isnan(cost.gc_ms));
    if (cost.policy == "compact") CHECK(cost.collections > 0);
    CHECK(cost.saved ==
          doctest::Approx(batch / prompts - cost.over_batch * batch / prompts).epsilon(0.2));
    const auto first =
        machine.recorded(kPrompts[0], is_batch ? "batch_beam" : "beam", settings, 40);
    const auto rows = first->memory(capture::Whose::kTarget);
    REQUIRE(cost.memory.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(cost.memory[i].live == rows[i].live);
      CHECK(cost.memory[i].garbage == rows[i].garbage);
      CHECK(cost.memory[i].batch_beam == rows[i].batch_beam);
    }
  }
  CHECK(table[2].saved > table[1].saved);  // compact saves more than keep
  CHECK(table[0].saved <= 0);              // batch search nothing
}

}  // namespace
}  // namespace triescope::app::test_bench_rates

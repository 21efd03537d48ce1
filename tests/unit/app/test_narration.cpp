// Narration over whole captures: every method with its variants, every schema, every level of
// recording, a slice, a run that was stopped. Every cursor has two to five sentences. Every number
// in them is computed again here from the capture's rows, and every link leads somewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include "core/methods/registry.h"
#include "tests/support/fixtures.h"
#include "tests/unit/app/narration_oracle.h"
#include "tests/unit/app/recorded_run.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/panel.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"

namespace triescope::test::test_narration {
namespace {

using namespace capture;
using nlohmann::json;
using viz::Part;
using viz::Sentence;
using viz::Target;

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char ch) { return std::isdigit(ch) != 0; });
}

// True if `text` is the number in one of the panels' formats, maybe behind a label that ends in " =
// ".
bool reads_as(const std::string& text, double number) {
  std::string figure = text;
  if (const auto at = text.find(" = "); at != std::string::npos) figure = text.substr(at + 3);
  figure[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(figure[0])));
  if (figure == viz::number_text(number, 3) || figure == viz::number_text(number, 2)) return true;
  if (figure == viz::bytes_text(number) || figure == viz::duration_text(number)) return true;
  const auto whole = static_cast<std::int64_t>(number);
  return figure == std::to_string(whole) || figure == viz::count_text(whole);
}

std::set<std::string> panel_names() {
  std::set<std::string> names;
  for (const auto& panel : viz::make_panels()) names.insert(panel->info().name);
  return names;
}

void check_link(const Capture& capture, Tick cursor, const Target& target) {
  static const std::set<std::string> panels = panel_names();
  const auto exists = [&](std::int64_t node) {
    return node >= -1 - static_cast<std::int64_t>(capture.run().prompt_tokens.size()) &&
           node < static_cast<std::int64_t>(capture.nodes_at(cursor).size());
  };
  switch (target.kind) {
    case Target::Kind::kNode:
      CHECK(exists(target.id));
      CHECK(target.id != -1);
      CHECK(target.node == target.id);
      break;
    case Target::Kind::kSlot:
      CHECK(target.id >= 0);
      CHECK(target.id < capture.slot_count_at(cursor));
      CHECK(exists(target.node));
      break;
    case Target::Kind::kStep:
      CHECK(std::any_of(capture.phases().begin(), capture.phases().end(),
                        [&](const PhaseRow& row) { return row.tick == target.id; }));
      break;
    case Target::Kind::kPanel:
      CHECK(panels.contains(target.panel));
      break;
    case Target::Kind::kNone:
      break;
  }
}

// The sentences that were told, over all captures of a test case.
using Told = std::set<std::string>;

void check_cursor(const Capture& capture, Tick cursor, Told& told) {
  CAPTURE(cursor);
  const viz::Narration narration = viz::narrate(capture, cursor, viz::Sentences::standard());
  CHECK(narration.cursor == cursor);
  CHECK(narration.sentences.size() >= 2);
  CHECK(narration.sentences.size() <= 5);
  const Oracle oracle(capture, cursor);
  // Names from the run may contain digits.
  const std::set<std::string> names = {"method", "model", "message", "why"};
  for (const Sentence& sentence : narration.sentences) {
    told.insert(sentence.name);
    const std::string text = viz::sentence_text(sentence);
    CAPTURE(text);
    CHECK(text.ends_with('.'));
    CHECK(text.find("  ") == std::string::npos);
    CHECK_FALSE(std::islower(static_cast<unsigned char>(text[0])));
    for (const Part& part : sentence.parts) {
      CAPTURE(part.fact);
      CAPTURE(part.text);
      check_link(capture, cursor, part.target);
      if (!part.is_value()) {
        CHECK_FALSE(has_digit(part.text));
        CHECK(part.target == Target{});
      } else if (std::isnan(part.number)) {
        CHECK((part.is_token || names.contains(part.fact) || !has_digit(part.text)));
      } else {
        CHECK(reads_as(part.text, part.number));
        if (oracle.is_rest(sentence, part)) continue;
        const Numbers right = oracle.of(sentence, part);
        CAPTURE(part.number);
        CAPTURE(right.size());
        CHECK(std::find(right.begin(), right.end(), part.number) != right.end());
      }
    }
  }
}

void check_all(const Capture& capture, Told& told) {
  CAPTURE(capture.run().method);
  CAPTURE(capture.run().settings_json);
  REQUIRE(capture.end_tick() > 0);
  for (Tick cursor = 0; cursor <= capture.end_tick(); ++cursor) check_cursor(capture, cursor, told);
}

bool check_run(const Recorded& what, Told& told) {
  const TempDir dir;
  const std::string path = record(what, dir);
  if (path.empty()) return false;
  check_all(*Capture::open(path), told);
  return true;
}

TEST_CASE("narration: every method, every rule of verification, every end") {
  Told told;
  const TempDir folder;
  const std::string datastore = folder.path() / "datastore.txt";
  std::ofstream(datastore) << "<5> <6> <7> <8> <9> <5> ";
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    int runs = 0;
    for (const char* verify : {"greedy", "sample", "chain", "multi_round", "typical", "top_k"}) {
      CAPTURE(verify);
      for (const bool ends : {false, true}) {
        FakeOptions model = chained();
        if (ends) {
          model.chain.clear();
          model.eos_token_ids = {8};
          model.eos_boost = 1;
        }
        json settings = settings_of(method, {{"verify", verify},
                                             {"accept_top_k", 3},
                                             {"temperature", 0.7},
                                             {"num_beams", 3},
                                             {"datastore", datastore}});
        runs += check_run({.method = method.name, .settings = settings, .model = model}, told);
      }
      if (!method.drafts()) break;
    }
    CHECK(runs >= 2);
  }
  for (const char* name : {"verify.greedy",
                           "verify.sample",
                           "verify.multi_round",
                           "verify.typical",
                           "verify.top_k",
                           "accept.bonus",
                           "accept.corrected",
                           "drafter.reranked",
                           "drafter.not_proposed",
                           "drafter.unlisted",
                           "reason.not_argmax",
                           "reason.draw_is_another",
                           "reason.drawn_from_typical",
                           "draft.tree",
                           "draft.chain",
                           "draft.withdrawn",
                           "draft.cost.model",
                           "draft.cost.head",
                           "commit.draft_model",
                           "commit.draft_head",
                           "end.eos",
                           "end.length",
                           "reason.eos",
                           "reason.beam_outdone",
                           "beams.cut",
                           "observe.draft",
                           "observe.drafts",
                           "observe.drafts.none"}) {
    CAPTURE(name);
    CHECK(told.contains(name));
  }
}

TEST_CASE("narration: draft models drawn at random, samplers, processors, windows, short texts") {
  Told told;
  for (const json& settings : {json{{"verify", "chain"}}, json{{"verify", "multi_round"}},
                               json{{"verify", "block"}}, json{{"repetition_penalty", 1.5}}}) {
    Recorded run{.method = "draft_model", .settings = settings, .model = chained()};
    run.model.chain.clear();
    run.settings["num_assistant_tokens"] = 3;
    CHECK(check_run(run, told));
  }
  CHECK(told.contains("draft.drawn"));
  CHECK(told.contains("reason.not_below_ratio"));
  CHECK(told.contains("reason.drawn_from_residual"));
  CHECK(told.contains("verify.block"));
  CHECK(told.contains("reason.block_falls_short"));
  CHECK(told.contains("reason.drawn_from_block"));
  Recorded gumbel{.method = "sample", .settings = {{"sampler", "gumbel"}}, .model = chained()};
  CHECK(check_run(gumbel, told));
  CHECK(told.contains("reason.gumbel_argmax"));
  Recorded window{.method = "prompt_lookup", .model = chained()};
  window.model.sliding_window = 4;
  CHECK(check_run(window, told));
  CHECK(told.contains("forward.sees.window"));
  window.model.all_layers_slide = true;
  CHECK(check_run(window, told));
  CHECK(check_run({.method = "greedy", .model = chained(), .prompt = {5}, .max_new_tokens = 1},
                  told));
  CHECK(told.contains("forward.prefill.one"));
  CHECK(check_run({.method = "prompt_lookup", .model = chained(), .max_new_tokens = 2}, told));
}

TEST_CASE("narration: a search that finds another list of parts to leave out says how many") {
  Told told;
  FakeOptions model = chained();
  model.layers = 8;
  const json settings = {{"skip_search", true}, {"skip_layers", {2, 3}}, {"search_window", 16}};
  CHECK(check_run(
      {.method = "layer_skip", .settings = settings, .model = model, .max_new_tokens = 80}, told));
  CHECK(told.contains("draft.left_out"));
}

TEST_CASE("narration: beams under every KV policy, pruned, with ends on the way") {
  Told told;
  for (const char* kv : {"recycle", "keep", "compact"})
    for (const json& more :
         {json{}, json{{"prune_absolute", 0.5}}, json{{"prune_relative", 1.05}},
          json{{"prune_relative_local", 1.2}}, json{{"early_stopping", "true"}}}) {
      Recorded run{.method = "beam", .model = {.vocab_size = 20, .eos_boost = 1}};
      run.settings = {{"kv", kv}, {"gc_every", 3}, {"num_beams", 4}, {"num_return_sequences", 2}};
      if (!more.is_null()) run.settings.update(more);
      CHECK(check_run(run, told));
    }
  CHECK(check_run({.method = "batch_beam",
                   .settings = {{"num_beams", 3}},
                   .model = {.vocab_size = 20, .eos_boost = 1}},
                  told));
  CHECK(check_run({.method = "beam", .settings = {{"num_beams", 1}}, .model = chained()}, told));
  for (const char* name :
       {"beams.expand", "beams.expand.one", "beams.kept", "beams.none_kept", "reason.beam_eos",
        "reason.pruned_absolute", "reason.pruned_relative", "reason.pruned_local", "commit.freed",
        "commit.garbage.keep", "commit.garbage.compact", "commit.collected", "commit.gathered",
        "commit.compare", "commit.died", "forward.reused", "forward.naive", "forward.siblings",
        "end.scores"}) {
    CAPTURE(name);
    CHECK(told.contains(name));
  }
}

TEST_CASE(
    "narration: runs that were stopped, recorded in part, cut out, or told in their own words") {
  Told told;
  Recorded stopped{.method = "beam", .settings = {{"num_beams", 3}}, .model = chained()};
  stopped.steps = 3;
  CHECK(check_run(stopped, told));
  CHECK(told.contains("break.stopped"));
  for (const Level level : {Level::kSteps, Level::kTree})
    for (const char* method : {"beam", "ngram_trie", "greedy"})
      CHECK(check_run({.method = method, .model = chained(), .level = level}, told));
  CHECK(told.contains("forward.unrecorded"));
  CHECK(told.contains("accept.unrecorded"));
  {
    const TempDir dir;
    const std::string path = record({.method = "ngram_trie", .model = chained()}, dir);
    REQUIRE_FALSE(path.empty());
    const std::string slice = dir.path() / "slice.tscap";
    save_slice(path, slice, 2, 3);
    check_all(*Capture::open(slice), told);
    CHECK(told.contains("gap.steps"));
  }
  const TempDir dir;
  for (const char* name : kKeptCaptures) {
    CAPTURE(name);
    check_all(*Capture::open(copy_of_capture(name, dir)), told);
  }
  CHECK(told.contains("reason.own_words"));
  // Another program's runs: what rows attended to as it was recorded, no times, no limit.
  for (const char* name : {"wrong-mask.tscap", "mended-mask.tscap"}) {
    CAPTURE(name);
    const std::string path = dir.path() / name;
    std::filesystem::copy_file(source_dir() / "assets" / "lessons" / name, path);
    check_all(*Capture::open(path), told);
  }
  for (const char* name : {"forward.fault.cells", "forward.fault.extra", "forward.siblings",
                           "commit.memory.live", "observe.text.open"}) {
    CAPTURE(name);
    CHECK(told.contains(name));
  }
}

TEST_CASE("narration: the moment's own words") {
  const TempDir dir;
  const auto capture = Capture::open(
      record({.method = "prompt_lookup", .model = chained(), .max_new_tokens = 9}, dir));
  const auto told = [&](int step, Phase phase) {
    return viz::narration_as_text(
        viz::narrate(*capture, make_tick(step, phase) + 1, viz::Sentences::standard()));
  };
  CHECK(told(0, Phase::kForward) ==
        "Step 0, forward\n"
        "  The model reads the prompt, nine tokens at the positions 0 to 8.\n"
        "  Their keys and values fill nine slots of the KV cache, from slot 0 to slot 8.\n"
        "  Only the last row is of interest, that of '<3>·': it says what may come next.\n");
  CHECK(viz::narration_as_markdown(
            viz::narrate(*capture, make_tick(0, Phase::kForward) + 1, viz::Sentences::standard()))
            .starts_with("## Step 0, forward\n\nThe model reads the prompt, "
                         "[nine](ts:panel/text) tokens at the positions [0](ts:node/-2) to "
                         "[8](ts:node/-10)."));
  const json parsed = json::parse(viz::narration_as_json(
      viz::narrate(*capture, make_tick(0, Phase::kForward) + 1, viz::Sentences::standard())));
  CHECK(parsed["step"] == 0);
  CHECK(parsed["phase"] == "forward");
  CHECK(parsed["sentences"][1]["name"] == "forward.prefill.slots");
  CHECK(parsed["sentences"][1]["parts"][3] ==
        json{{"text", "0"}, {"value", "first"}, {"number", 0.0}, {"target", "slot/0"}});
}

}  // namespace
}  // namespace triescope::test::test_narration

// Assisted generation on small trained heads, step by step: what transformers' generate() drafts at each state with an
// MTP layer (tests/golden/mtp.py) and a DFlash head (dflash.py) is drafted here, and the text is greedy decoding's. DDTree's
// trees are those of the script.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "core/base/rng.h"
#include "core/capture/metric_names.h"
#include "core/model/heads/draft_head.h"
#include "core/model/model.h"
#include "core/session/session.h"
#include "core/text/tokenizer/id_tokenizer.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/paths.h"

namespace triescope::test::test_assisted {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::int32_t>;

json golden(const std::string& name) {
  return json::parse(std::ifstream(source_dir() / "tests/golden" / name));
}
std::string fixture(const std::string& name) {
  return (source_dir() / "tests/fixtures" / name).string();
}

struct Run {
  Run(Model& model, const json& text, const std::string& method, json settings, DraftHead* head)
      : tokenizer(make_id_tokenizer("ids", model.info().vocab_size, 1, model.info().eos_token_ids)),
        prompt(text["ids"].begin(), text["ids"].begin() + text["prompt"].get<int>()) {
    RunConfig config;
    config.method = method;
    config.settings = std::move(settings);
    config.prompt_tokens = prompt;
    config.max_new_tokens = static_cast<int>(text["ids"].size() - prompt.size());
    config.draft = {nullptr, nullptr, head};
    session = std::make_unique<Session>(model, *tokenizer, std::move(config), recorder);
    session->run();
  }
  Tokens text() const {
    Tokens all = prompt;
    const RunResult result = session->result();
    for (const std::int32_t token : result.sequences.at(0).tokens) all.push_back(token);
    return all;
  }
  // Step by step: the tokens before the drafts, and the drafts in the order in which they were hung.
  std::vector<std::pair<std::size_t, std::vector<NodeId>>> steps() const {
    std::map<std::int32_t, std::vector<NodeId>> by_pending;
    const TokenTree& tree = session->tree();
    for (std::int32_t i = 1; i < tree.size(); ++i) {
      NodeId above(i);
      if (!capture::is_drafted(tree[above].source) || tree[above].is_probe()) continue;
      const std::int32_t tick = hung_at(above);
      while (above.value > 0 && hung_at(above) == tick) above = tree[above].parent;
      by_pending[above.value].push_back(NodeId(i));
    }
    std::vector<std::pair<std::size_t, std::vector<NodeId>>> all;
    for (const auto& [pending, nodes] : by_pending)
      all.emplace_back(prompt.size() + static_cast<std::size_t>(tree[NodeId(pending)].depth),
                       nodes);
    return all;
  }
  std::int32_t hung_at(NodeId node) const {
    return static_cast<std::int32_t>(
        recorder.node_rows.at(static_cast<std::size_t>(node.value)).tick);
  }
  Tokens path(NodeId from, NodeId node) const {
    Tokens tokens;
    for (; node != from; node = session->tree()[node].parent)
      tokens.insert(tokens.begin(), session->tree()[node].token.value);
    return tokens;
  }

  std::shared_ptr<const Tokenizer> tokenizer;
  Tokens prompt;
  MemoryRecorder recorder{capture::Level::kFull};
  std::unique_ptr<Session> session;
};

struct Counts {
  int states = 0, accepted = 0;
};

// Runs every text and compares its chains with the golden's, state by state.
Counts compare_chains(const json& file, Model& model, DraftHead& head, const std::string& method,
                      const json& settings) {
  Counts counts;
  for (const json& text : file["texts"]) {
    CAPTURE(text["ids"].dump());
    const Run run(model, text, method, settings, &head);
    CHECK(run.text() == text["ids"].get<Tokens>());
    CHECK(Run(model, text, "greedy", json::object(), nullptr).text() == run.text());
    std::map<std::size_t, Tokens> found;
    for (const auto& [before, nodes] : run.steps())
      for (const NodeId node : nodes)
        found[before].push_back(run.session->tree()[node].token.value);
    for (const json& state : text["states"]) {
      const std::size_t before = state[0];
      CAPTURE(before);
      Tokens expected = state[1];
      // No draft is sent that could not become text, with the target's own token after it.
      const std::size_t room = text["ids"].size() - before - 1;
      if (room == 0) continue;
      expected.resize(std::min(expected.size(), room));
      CHECK(found[before] == expected);
      ++counts.states;
    }
    const auto& histogram = run.session->result().accepted_histogram;
    for (std::size_t k = 0; k < histogram.size(); ++k)
      counts.accepted += static_cast<int>(k) * static_cast<int>(histogram[k]);
  }
  return counts;
}

TEST_CASE("assisted: an MTP layer drafts what transformers drafts with it, state by state") {
  const json file = golden("mtp.json");
  const auto model = load_model(fixture("mtp_qwen3"), {.dtype = DType::kF32});
  const auto head = load_draft_head(fixture("mtp_qwen3"), *model, 1);
  REQUIRE(head->config.kind == formats::HeadKind::kMtp);
  const Counts counts = compare_chains(file, *model, *head, "mtp", {{"num_assistant_tokens", 1}});
  CHECK(counts.states >= 400);
  CHECK(counts.accepted >= 100);
}

TEST_CASE(
    "assisted: a DFlash head drafts what transformers drafts with it, under either set of names") {
  const json file = golden("dflash.json");
  const auto model = load_model(fixture("draft_heads/target"), {.dtype = DType::kF32});
  for (const char* form : {"dflash", "dflash_encoder"}) {
    CAPTURE(form);
    const auto head = load_draft_head(fixture(form), *model, 1);
    REQUIRE(head->config.kind == formats::HeadKind::kDFlash);
    CHECK(head->config.block_size == 6);
    CHECK(head->config.mask_token == 63);
    CHECK(head->config.feature_layers == std::vector<int>{2, 5, 7});  // entering
    CHECK(head->notes == std::vector<std::string>());
    const Counts counts = compare_chains(file, *model, *head, "dflash", json::object());
    CHECK(counts.states >= 800);
    CHECK(counts.accepted >= 250);
  }
}

TEST_CASE("assisted: greedy decoding's text on a hundred prompts, several drafts a step") {
  for (const auto& [name, target, settings] :
       {std::tuple("mtp", "mtp_qwen3", json{{"num_assistant_tokens", 4}}),
        std::tuple("dflash", "draft_heads/target", json::object()),
        std::tuple("dflash", "draft_heads/target", json{{"tree_budget", 16}})}) {
    CAPTURE(std::string(name));
    const auto model = load_model(fixture(target), {.dtype = DType::kF32});
    const auto head =
        load_draft_head(fixture(std::string(name) == "mtp" ? target : name), *model, 1);
    Rng rng(8);
    std::int64_t forwards = 0, tokens = 0;
    for (int i = 0; i < 100; ++i) {
      Tokens ids = {1};
      const auto length = 2 + static_cast<std::size_t>(rng.uniform() * 12);
      while (ids.size() < length) ids.push_back(3 + static_cast<std::int32_t>(rng.uniform() * 58));
      const json text = {{"prompt", length},
                         {"ids", [&] {
                            Tokens all = ids;
                            all.resize(length + 24);  // so many more are asked for
                            return all;
                          }()}};
      const Run run(*model, text, name, settings, head.get());
      CHECK(run.text() == Run(*model, text, "greedy", json::object(), nullptr).text());
      forwards += run.session->result().target_forwards;
      tokens += run.session->result().emitted_tokens;
    }
    CHECK(tokens > forwards);
  }
}

TEST_CASE("assisted: through libtorch the heads draft the same") {
  const LoadOptions reference{.dtype = DType::kF32, .reference_kernels = true};
  for (const auto& [name, target, file, settings] :
       {std::tuple("mtp", "mtp_qwen3", "mtp.json", json{{"num_assistant_tokens", 1}}),
        std::tuple("dflash", "draft_heads/target", "dflash.json", json::object())}) {
    CAPTURE(std::string(name));
    const auto model = load_model(fixture(target), reference);
    const auto head =
        load_draft_head(fixture(std::string(name) == "mtp" ? target : name), *model, 1);
    json some = golden(file);
    some["texts"].erase(some["texts"].begin() + 2, some["texts"].end());
    const Counts counts = compare_chains(some, *model, *head, name, settings);
    CHECK(counts.states >= 40);
    CHECK(counts.accepted >= 5);
  }
}

TEST_CASE("assisted: DDTree's nodes are hung in the order in which they grow, heaviest first") {
  const json file = golden("dflash.json");
  const auto model = load_model(fixture("draft_heads/target"), {.dtype = DType::kF32});
  const auto head = load_draft_head(fixture("dflash"), *model, 1);
  int trees = 0;
  for (const json& text : file["texts"]) {
    for (const auto& [before, expected] : text["trees"].items()) {
      CAPTURE(before);
      // The text up to there is the prompt, so that the state is the script's.
      json begin = text;
      begin["prompt"] = std::stoi(before) - 1;
      if (text["ids"].size() - begin["prompt"].get<std::size_t>() < 8) continue;
      const Run run(*model, begin, "dflash", {{"tree_budget", file["budget"]}, {"candidates", 12}},
                    head.get());
      CHECK(run.text() == text["ids"].get<Tokens>());
      const auto steps = run.steps();
      REQUIRE_FALSE(steps.empty());
      REQUIRE(steps[0].first == std::stoul(before));
      const TokenTree& tree = run.session->tree();
      const NodeId pending = tree[steps[0].second[0]].parent;
      REQUIRE(steps[0].second.size() == expected.size());
      double last = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const NodeId node = steps[0].second[i];
        CHECK(run.path(pending, node) == expected[i][0].get<Tokens>());
        // The capture has every node's log-probability as a candidate of its parent's row.
        double weight = 0;
        for (NodeId at = node; at != pending; at = tree[at].parent) {
          const auto row = std::ranges::find_if(run.recorder.candidate_rows, [&](const auto& one) {
            return one.whose == capture::Whose::kHead && one.chosen &&
                   one.node == tree[at].parent.value && one.token == tree[at].token.value;
          });
          REQUIRE(row != run.recorder.candidate_rows.end());
          weight += static_cast<double>(row->logprob);
        }
        CHECK(weight == doctest::Approx(expected[i][1].get<double>()).epsilon(2e-3));
        CHECK((i == 0 || weight <= last + 1e-5));
        last = weight;
        const auto grown = std::ranges::find_if(run.recorder.metric_rows, [&](const auto& one) {
          return one.name == capture::kGrownAs && one.node == node.value;
        });
        REQUIRE(grown != run.recorder.metric_rows.end());
        CHECK(grown->value == static_cast<double>(i + 1));
      }
      ++trees;
    }
  }
  CHECK(trees >= 50);
}

}  // namespace
}  // namespace triescope::test::test_assisted

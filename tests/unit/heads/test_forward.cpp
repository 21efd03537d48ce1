// The forward passes of draft heads against an independent script in PyTorch (tests/golden/make_heads.py):
// one small head of every published format, read from its file.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/draft_head/head_file.h"
#include "core/heads/draft_head.h"
#include "tests/support/paths.h"

namespace triescope {
namespace {

using formats::HeadKind;
using nlohmann::json;

constexpr double kTolerance = 2e-4;  // of a value, or of the largest where that is above 1

const std::string kFolder = std::string(TRIESCOPE_TEST_SOURCE_DIR) + "/tests/fixtures/draft_heads/";

json read_json(const std::string& path) {
  std::ifstream file(kFolder + path);
  REQUIRE(file);
  return json::parse(file);
}

std::vector<float> floats(const json& values) { return values.get<std::vector<float>>(); }

double largest_difference(std::span<const float> found, std::span<const float> expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 0, scale = 1;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected[i]));
  // States that are fed back are not normed: those of random weights grow into the thousands.
  for (const float x : expected) scale = std::max(scale, std::abs(static_cast<double>(x)));
  return largest / scale;
}

struct Fixture {
  std::unique_ptr<Model> target = load_model(kFolder + "target", {.threads = 1});
  json text = read_json("target/features.json");
  std::vector<std::int32_t> tokens = text["tokens"].get<std::vector<std::int32_t>>();

  // The target's states that a head reads at a position, one after the other.
  std::vector<float> states(const DraftHead& head, std::size_t position) const {
    std::vector<float> joined;
    for (const std::int32_t layer : head.feature_layers())
      for (const float x : floats(text["features"][std::to_string(layer)][position]))
        joined.push_back(x);
    return joined;
  }
};

// Logits of the target's vocabulary against an answer's, which are of the draft vocabulary.
double logit_difference(std::span<const float> found, const json& answer,
                        const std::vector<std::int64_t>& offsets) {
  const std::vector<float> expected = floats(answer);
  if (offsets.empty()) return largest_difference(found, expected);
  std::vector<float> drafted;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    drafted.push_back(found[static_cast<std::size_t>(static_cast<std::int64_t>(i) + offsets[i])]);
  for (const float logit : found) finite += std::isfinite(logit);
  CHECK(finite == offsets.size());  // all others are -infinity
  return largest_difference(drafted, expected);
}

// Runs rows of a head over slots in order of first use; sees `before` and itself.
struct HeadRun {
  HeadRun(DraftHead& head_in) : head(head_in), kv(head_in.layers->make_kv(64)) {}

  struct Row {
    std::int32_t token, position, slot;
    std::vector<std::int32_t> seen;  // slots, its own last
    std::vector<float> state;
  };
  ForwardOutput run(const std::vector<Row>& rows) {
    std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0}, all;
    std::vector<float> features;
    for (const Row& row : rows) {
      all.push_back(static_cast<std::int32_t>(tokens.size()));
      tokens.push_back(row.token);
      positions.push_back(row.position);
      slots.push_back(row.slot);
      own.insert(own.end(), row.seen.begin(), row.seen.end());
      offsets.push_back(static_cast<std::int32_t>(own.size()));
      features.insert(features.end(), row.state.begin(), row.state.end());
    }
    const std::int32_t layers[] = {head.feedback_layer()};
    return head.layers->forward({.tokens = tokens,
                                 .positions = positions,
                                 .slots = slots,
                                 .prefix_slots = {},
                                 .own_slots = own,
                                 .own_offsets = offsets,
                                 .logit_rows = all,
                                 .feature_layers = layers,
                                 .feature_rows = all,
                                 .input_features = features},
                                *kv);
  }

  DraftHead& head;
  std::unique_ptr<KvStorage> kv;
};

std::vector<std::int32_t> up_to(std::int32_t slot) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i <= slot; ++i) all.push_back(i);
  return all;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST_CASE_FIXTURE(
    Fixture, "EAGLE and EAGLE-3 heads of every format answer as PyTorch: text, chain and tree") {
  for (const char* name :
       {"eagle", "eagle-no-bias", "eagle-qwen2", "eagle-vllm", "eagle-speculators", "eagle3",
        "eagle3-full-vocabulary", "eagle3-specforge", "eagle3-norm-before-residual",
        "eagle3-norm-before-fc", "eagle3-fc-norm", "eagle3-two-layers", "eagle3-qwen3",
        "eagle3-wide", "eagle3-no-fc"}) {
    CAPTURE(name);
    const json answers = read_json(std::string(name) + "/answers.json");
    const auto head = load_draft_head(kFolder + name, *target, 1);
    CHECK(formats::to_string(head->config.kind) == answers["kind"].get<std::string>());
    CHECK(head->feature_layers() == answers["layers"].get<std::vector<std::int32_t>>());
    const formats::HeadFile file = formats::HeadFile::open(kFolder + name, {});
    std::vector<std::int64_t> offsets;
    if (file.has("d2t")) offsets = file.tensor("d2t").integers();
    const auto hidden = static_cast<std::size_t>(head->layers->info().hidden);

    HeadRun run(*head);
    std::vector<HeadRun::Row> rows;
    const auto pairs = static_cast<std::int32_t>(tokens.size()) - 1;
    for (std::int32_t t = 0; t < pairs; ++t)
      rows.push_back({tokens[static_cast<std::size_t>(t) + 1], t, t, up_to(t),
                      states(*head, static_cast<std::size_t>(t))});
    ForwardOutput output = run.run(rows);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      CAPTURE(t);
      const json& answer = answers["text"][t];
      CHECK(logit_difference(output.row(static_cast<int>(t)), answer["logits"], offsets) <
            kTolerance);
      CHECK(largest_difference(output.features.subspan(t * hidden, hidden),
                               floats(answer["state"])) < kTolerance);
    }
    const std::vector<float> last =
        copy(output.features.subspan((rows.size() - 1) * hidden, hidden));

    // The chain, each row with the state that the row before it gave.
    std::vector<float> state = last;
    std::int32_t slot = pairs;
    for (const json& answer : answers["chain"]) {
      CHECK(answer["position"] == slot);
      output = run.run({{answer["token"], slot, slot, up_to(slot), state}});
      state = copy(output.features);
      CHECK(logit_difference(output.row(0), answer["logits"], offsets) < kTolerance);
      CHECK(largest_difference(state, floats(answer["state"])) < kTolerance);
      ++slot;
    }

    // The tree, a level at a time, its siblings in one forward.
    struct Made {
      std::vector<std::int32_t> seen;
      std::vector<float> state, logits;
    };
    std::vector<Made> made(answers["tree"].size());
    for (std::int32_t position = pairs; position < pairs + 4; ++position) {
      std::vector<HeadRun::Row> level;
      std::vector<std::size_t> nodes;
      for (std::size_t i = 0; i < answers["tree"].size(); ++i) {
        const json& node = answers["tree"][i];
        if (node["position"] != position) continue;
        const int parent = node["parent"];
        std::vector<std::int32_t> seen =
            parent < 0 ? up_to(pairs - 1) : made[static_cast<std::size_t>(parent)].seen;
        seen.push_back(slot);
        level.push_back({node["token"], position, slot++, seen,
                         parent < 0 ? last : made[static_cast<std::size_t>(parent)].state});
        made[i].seen = seen;
        nodes.push_back(i);
      }
      if (level.empty()) continue;
      output = run.run(level);
      for (std::size_t r = 0; r < nodes.size(); ++r) {
        made[nodes[r]].state = copy(output.features.subspan(r * hidden, hidden));
        made[nodes[r]].logits = copy(output.row(static_cast<int>(r)));
      }
      // Path only: a row alone gives the same bits.
      for (std::size_t r = 0; r < nodes.size(); ++r) {
        output = run.run({level[r]});
        CHECK(copy(output.row(0)) == made[nodes[r]].logits);
        CHECK(copy(output.features) == made[nodes[r]].state);
      }
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      CAPTURE(i);
      CHECK(logit_difference(made[i].logits, answers["tree"][i]["logits"], offsets) < kTolerance);
      CHECK(largest_difference(made[i].state, floats(answers["tree"][i]["state"])) < kTolerance);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "Medusa heads of every format answer as PyTorch") {
  for (const char* name : {"medusa", "medusa-two-layers", "medusa-v2", "medusa-2", "medusa-vllm",
                           "medusa-vllm-one-head"}) {
    CAPTURE(name);
    const json answers = read_json(std::string(name) + "/answers.json");
    const auto head = load_draft_head(kFolder + name, *target, 1);
    CHECK(head->config.kind == HeadKind::kMedusa);
    CHECK(head->layers == nullptr);
    CHECK_FALSE(head->tokens->reads_tokens());
    CHECK(head->feature_layers() == std::vector<std::int32_t>{kFinalNorm});
    CHECK(head->tokens->count() == static_cast<int>(answers["logits"][0].size()));
    const formats::HeadFile file = formats::HeadFile::open(kFolder + name, {});
    std::vector<std::int64_t> offsets;
    if (file.has("d2t")) offsets = file.tensor("d2t").integers();
    for (std::size_t t = 0; t < tokens.size(); ++t)
      for (int h = 0; h < head->tokens->count(); ++h) {
        const std::vector<float> state = states(*head, t);
        CHECK(logit_difference(head->tokens->logits(h, state, {}),
                               answers["logits"][t][static_cast<std::size_t>(h)],
                               offsets) < kTolerance);
      }
  }
}

TEST_CASE_FIXTURE(Fixture, "Hydra heads of every format answer as PyTorch, several paths at once") {
  for (const char* name : {"hydra", "hydra-mlp", "hydra-shared-head"}) {
    CAPTURE(name);
    const json answers = read_json(std::string(name) + "/answers.json");
    const auto head = load_draft_head(kFolder + name, *target, 1);
    CHECK(head->config.kind == HeadKind::kHydra);
    CHECK(head->tokens->reads_tokens());
    CHECK(head->feature_layers() == answers["layers"].get<std::vector<std::int32_t>>());
    CHECK((head->layers != nullptr) == (std::string(name) != "hydra-mlp"));
    const auto pairs = static_cast<std::int32_t>(tokens.size()) - 1;
    std::vector<float> state = states(*head, static_cast<std::size_t>(pairs) - 1);
    if (head->layers) {
      HeadRun run(*head);
      std::vector<HeadRun::Row> rows;
      for (std::int32_t t = 0; t < pairs; ++t)
        rows.push_back({tokens[static_cast<std::size_t>(t) + 1], t, t, up_to(t),
                        states(*head, static_cast<std::size_t>(t))});
      const ForwardOutput output = run.run(rows);
      for (std::size_t t = 0; t < rows.size(); ++t)
        CHECK(largest_difference(output.features.subspan(t * 16, 16),
                                 floats(answers["prefix"][t])) < kTolerance);
      state = copy(output.features.last(16));
    }
    for (const char* part : {"chain", "tree"}) {
      std::vector<std::vector<std::int32_t>> paths(5);  // by head, one after the other
      std::vector<std::vector<json>> wanted(5);
      for (const json& answer : answers[part]) {
        const auto path = answer["tokens"].get<std::vector<std::int32_t>>();
        paths[path.size() - 1].insert(paths[path.size() - 1].end(), path.begin(), path.end());
        wanted[path.size() - 1].push_back(answer["logits"]);
      }
      for (std::size_t h = 0; h < paths.size(); ++h) {
        if (wanted[h].empty()) continue;
        const auto logits = head->tokens->logits(static_cast<int>(h), state, paths[h]);
        REQUIRE(logits.size() == wanted[h].size() * 64);
        for (std::size_t r = 0; r < wanted[h].size(); ++r)
          CHECK(largest_difference(logits.subspan(r * 64, 64), floats(wanted[h][r])) < kTolerance);
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "a head refuses input features of another width, and says which it reads") {
  const auto head = load_draft_head(kFolder + "eagle3", *target, 1);
  HeadRun run(*head);
  try {
    run.run({{1, 0, 0, {0}, std::vector<float>(17)}});
    FAIL("17 values were taken");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(
        std::string(error.what()) ==
        "forward: expected input features of 48 or 16 values for each of 1 rows, found 17 values");
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "what a target shares, on both executors: rows of its embedding, and logits of "
                  "states without the final norm") {
  for (const bool reference_kernels : {false, true}) {
    CAPTURE(reference_kernels);
    target = load_model(kFolder + "target", {.reference_kernels = reference_kernels, .threads = 1});
    const std::int32_t wanted[] = {5, 0, 63};
    std::vector<float> rows(48), one(16);
    target->embed(wanted, rows);
    target->embed(std::span(wanted).subspan(1, 1), one);
    CHECK(std::equal(one.begin(), one.end(), rows.begin() + 16));
    // Layer 0's input is the embedding itself.
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      target->embed(std::span(tokens).subspan(t, 1), one);
      CHECK(largest_difference(one, floats(text["features"]["0"][t])) < 1e-6);
      const std::vector<float> normed = floats(text["features"]["-1"][t]);
      CHECK(largest_difference(target->output_head(normed), floats(text["logits"][t])) <
            kTolerance);
    }
    CHECK_THROWS_AS(target->embed(std::span(wanted).first(1), rows), Error);
    const std::int32_t beyond[] = {64};
    CHECK_THROWS_AS(target->embed(beyond, one), Error);
    CHECK_THROWS_AS(target->output_head(std::span(rows).first(17)), Error);

    // A head that reads both of the target's.
    const json answers = read_json("eagle-no-bias/answers.json");
    const auto head = load_draft_head(kFolder + "eagle-no-bias", *target, 1);
    CHECK_THROWS_AS(head->layers->embed(beyond, one), Error);  // and has none to share
    HeadRun run(*head);
    std::vector<HeadRun::Row> pairs;
    for (std::int32_t t = 0; t + 1 < static_cast<std::int32_t>(tokens.size()); ++t)
      pairs.push_back({tokens[static_cast<std::size_t>(t) + 1], t, t, up_to(t),
                       states(*head, static_cast<std::size_t>(t))});
    const ForwardOutput output = run.run(pairs);
    for (std::size_t t = 0; t < pairs.size(); ++t)
      CHECK(largest_difference(output.row(static_cast<int>(t)),
                               floats(answers["text"][t]["logits"])) < kTolerance);
  }
}

}  // namespace
}  // namespace triescope

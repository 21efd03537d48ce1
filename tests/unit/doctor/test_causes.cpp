// With the model: rows are computed again from their paths. A run of a small model has no finding; where
// one recorded row was made with a mistake, the mistake is named. The wrong rows are computed here, by one
// forward with the tokens, positions and lists of the mistake.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/capture/writer.h"
#include "core/doctor/model/model_checks.h"
#include "core/doctor/run_view.h"
#include "core/method/method.h"
#include "core/methods/registry.h"
#include "core/model/rope_scaling.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/sql.h"
#include "tests/unit/app/tiny_model.h"
#include "tests/unit/doctor/made_run.h"

namespace triescope::test::test_causes {
namespace {

using doctor::Code;
using doctor::FindingGroup;
using doctor::RunView;

constexpr std::int32_t kBos = 1;

struct Row {
  std::int32_t token, position;
  std::vector<std::int32_t> sees;  // earlier rows
};

struct Place {
  TempDir dir;
  std::string path, model_path;
  std::unique_ptr<Model> model;
  explicit Place(std::uint64_t seed = 1, bool scaled = false) {
    model_path = written(seed, scaled);
    model = load_model(model_path);
    path = dir.path() / "run.tscap";
  }
  std::string written(std::uint64_t seed, bool scaled) const {
    GgufWriter writer = app::tiny_model({.seed = seed});
    writer.add("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(kBos));
    if (scaled) {
      writer.add("llama.rope.scaling.type", std::string("linear"));
      writer.add("llama.rope.scaling.factor", 4.0f);
    }
    const std::filesystem::path file = dir.path() / ("model" + std::to_string(seed) + ".gguf");
    write_file(file, writer.bytes());
    return file.string();
  }

  void decode(const std::string& method = "draft_model") {
    FakeTokenizer tokenizer(48, {});
    const std::unique_ptr<Model> draft = load_model(written(2, false));
    RunConfig config;
    config.method = method;
    config.settings = {{"candidates", 6}};
    if (method == "draft_model") {
      config.settings["expansion"] = {3, 2, 1};
      config.draft = {draft.get(), &tokenizer, nullptr};
    }
    config.prompt_tokens = {kBos, 5, 9, 17, 33, 12, 5};
    config.max_new_tokens = 16;
    const auto recorder = open_recorder(path);
    Session session(*model, tokenizer, std::move(config), *recorder);
    while (!session.done()) session.step();
  }

  // The logits of the last of `rows`.
  std::vector<float> logits(const std::vector<Row>& rows, Model* of = nullptr) const {
    Model& used = of ? *of : *model;
    const auto kv = used.make_kv(static_cast<int>(rows.size()));
    std::vector<std::int32_t> tokens, positions, slots, own, offsets = {0};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      tokens.push_back(rows[i].token);
      positions.push_back(rows[i].position);
      slots.push_back(static_cast<std::int32_t>(i));
      own.insert(own.end(), rows[i].sees.begin(), rows[i].sees.end());
      own.push_back(static_cast<std::int32_t>(i));
      offsets.push_back(static_cast<std::int32_t>(own.size()));
    }
    const std::vector<std::int32_t> wanted = {static_cast<std::int32_t>(rows.size()) - 1};
    const ForwardOutput output = used.forward({.tokens = tokens,
                                               .positions = positions,
                                               .slots = slots,
                                               .prefix_slots = {},
                                               .own_slots = own,
                                               .own_offsets = offsets,
                                               .logit_rows = wanted},
                                              *kv);
    const auto whole = output.row(0).whole();
    return {whole.begin(), whole.end()};
  }

  // Writes what these logits say in place of a row's candidates.
  void plant(std::int32_t node, std::vector<float> logits) const {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    std::vector<std::int32_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int32_t token) {
      return logits[static_cast<std::size_t>(token)];
    });
    for (int rank = 0; rank < 6; ++rank) {
      const std::int32_t token = order[static_cast<std::size_t>(rank)];
      run_sql(path, "UPDATE candidate SET token = " + std::to_string(token) + ", logprob = " +
                        std::to_string(logits[static_cast<std::size_t>(token)] - std::log(sum)) +
                        " WHERE whose = 'target' AND node = " + std::to_string(node) +
                        " AND rank = " + std::to_string(rank));
    }
  }

  std::vector<FindingGroup> found(bool scaled = false) const {
    const auto capture = Capture::open(path);
    doctor::ModelToCheck with{.model = *model};
    if (scaled)
      with.without_rope_scaling = [this] { return load_without_rope_scaling(model_path); };
    return doctor::diagnose_with(*capture, with);
  }
  // What the doctor says the mistake is.
  std::string cause(bool scaled = false) const {
    const auto groups = found(scaled);
    std::string all;
    for (const FindingGroup& group : groups) all += group.first.text + "\n";
    INFO(all);
    REQUIRE_FALSE(groups.empty());
    CHECK(groups[0].first.code == Code::kLogitsCause);
    CHECK(groups[0].first.sure == doctor::Sure::kCertain);
    REQUIRE(groups.size() >= 2);
    CHECK(groups[1].first.code == Code::kLogitsRow);
    CHECK(groups[1].first.node == groups[0].first.node);
    return groups[0].first.kind;
  }
};

std::vector<Row> rows_of(const RunView& run, std::int32_t node) {
  std::vector<Row> rows;
  const auto add = [&](std::int32_t token) {
    Row row{token, static_cast<std::int32_t>(rows.size()), {}};
    for (std::int32_t i = 0; i < row.position; ++i) row.sees.push_back(i);
    rows.push_back(row);
  };
  for (const std::int32_t token : run.capture.run().prompt_tokens) add(token);
  if (node > 0)
    for (const std::int32_t one : run.capture.path_to(node)) add(run.at(one).token);
  return rows;
}

// Rows of prefill from other prompt tokens.
std::vector<Row> prompt_rows(const std::vector<std::int32_t>& tokens) {
  std::vector<Row> rows;
  for (const std::int32_t token : tokens) {
    Row row{token, static_cast<std::int32_t>(rows.size()), {}};
    for (std::int32_t i = 0; i < row.position; ++i) row.sees.push_back(i);
    rows.push_back(row);
  }
  return rows;
}

// Drafts whose rows were recorded, with a recorded sibling before them in the batch.
struct Siblings {
  std::int32_t first, second;
};
std::vector<Siblings> siblings(const Capture& capture) {
  std::vector<Siblings> all;
  for (std::int32_t step = 1; step <= capture.last_step(); ++step)
    for (const InputRow& a : capture.inputs(step))
      for (const InputRow& b : capture.inputs(step))
        if (a.row < b.row && a.node > 0 && b.node > 0 &&
            capture.nodes()[static_cast<std::size_t>(a.node)].parent ==
                capture.nodes()[static_cast<std::size_t>(b.node)].parent &&
            !capture.candidates(b.node, capture.end_tick()).empty())
          all.push_back({a.node, b.node});
  return all;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("doctor with the model: no finding in a run of any method that needs no companion") {
  Place place;
  place.decode();
  CHECK(place.found().empty());
  for (const MethodInfo& method : methods()) {
    if (method.needs != Need::kNothing || method.name == "rest") continue;
    CAPTURE(method.name);
    Place own;
    own.decode(method.name);
    CHECK(own.found().empty());
  }
}

TEST_CASE("doctor with the model: a sibling seen") {
  Place place;
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  const auto pairs = siblings(*capture);
  REQUIRE_FALSE(pairs.empty());
  const auto [first, second] = pairs.front();
  auto rows = rows_of(run, second);
  const Row self = rows.back();
  Row sibling = self;
  sibling.token = run.at(first).token;
  rows.back() = sibling;
  rows.push_back(self);
  rows.back().sees.push_back(static_cast<std::int32_t>(rows.size()) - 2);
  place.plant(second, place.logits(rows));
  CHECK(contains(place.cause(), "a sibling is seen: node " + std::to_string(first)));
}

TEST_CASE("doctor with the model: an ancestor missing") {
  Place place;
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  const std::int32_t node = siblings(*capture).back().second;
  auto rows = rows_of(run, node);
  REQUIRE(run.at(node).depth > 2);
  const std::int32_t missing = static_cast<std::int32_t>(rows.size()) - 3;
  std::erase(rows.back().sees, missing);
  place.plant(node, place.logits(rows));
  CHECK(contains(place.cause(),
                 "an ancestor is missing: node " + std::to_string(run.parent(run.parent(node)))));
}

TEST_CASE("doctor with the model: a position off by one, and sequential positions") {
  for (const int by : {1, -1, 0}) {
    CAPTURE(by);
    Place place;
    place.decode();
    const auto capture = Capture::open(place.path);
    const RunView run(*capture);
    // The second sibling of the first step, which counting rows puts further off than by one.
    std::int32_t node = -1, sequential = -1;
    for (const InputRow& row : capture->inputs(1)) {
      const std::int32_t counted = run.position(capture->inputs(1).front().node) + row.row;
      if (counted > run.position(row.node) + 1 && node < 0 &&
          !capture->candidates(row.node, capture->end_tick()).empty())
        node = row.node, sequential = counted;
    }
    REQUIRE(node > 0);
    auto rows = rows_of(run, node);
    rows.back().position = by == 0 ? sequential : rows.back().position + by;
    place.plant(node, place.logits(rows));
    CHECK(contains(place.cause(), by == 0   ? "positions are sequential"
                                  : by == 1 ? "the position is one too high"
                                            : "the position is one too low"));
  }
}

TEST_CASE("doctor with the model: stale KV after a rejection") {
  Place place;
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  // The root of step 2 also sees a draft that step 1 refused.
  const std::int32_t node = capture->inputs(2).front().node;
  REQUIRE_FALSE(capture->candidates(node, capture->end_tick()).empty());
  std::int32_t stale = -1;
  for (const InputRow& row : capture->inputs(1))
    if (row.node > 0 && !run.is_on_path(row.node, node) &&
        run.is_on_path(run.parent(row.node), node))
      stale = row.node;
  REQUIRE(stale > 0);
  auto rows = rows_of(run, node);
  Row self = rows.back();
  rows.back() = rows_of(run, stale).back();
  self.sees.push_back(static_cast<std::int32_t>(rows.size()) - 1);
  // Those before it are seen by it as they were.
  std::erase_if(rows.back().sees, [&](std::int32_t index) { return index >= run.position(stale); });
  rows.push_back(self);
  place.plant(node, place.logits(rows));
  CHECK(contains(place.cause(), "stale KV is seen: that of node " + std::to_string(stale)));
}

TEST_CASE("doctor with the model: BOS missing, BOS doubled, the last token dropped or twice") {
  const std::map<std::string, std::vector<std::int32_t>> prompts = {
      {"the BOS token is missing", {5, 9, 17, 33, 12, 5}},
      {"the BOS token is doubled", {kBos, kBos, 5, 9, 17, 33, 12, 5}},
      {"the prompt's last token is dropped", {kBos, 5, 9, 17, 33, 12}},
      {"the prompt's last token stands twice", {kBos, 5, 9, 17, 33, 12, 5, 5}}};
  for (const auto& [name, tokens] : prompts) {
    CAPTURE(name);
    Place place;
    place.decode();
    place.plant(0, place.logits(prompt_rows(tokens)));
    CHECK(place.cause() == name);
  }
}

TEST_CASE("doctor with the model: rope scaling off") {
  Place place(1, true);
  REQUIRE(has_rope_scaling(place.model_path));
  place.decode();
  CHECK(place.found(true).empty());
  const auto plain = load_without_rope_scaling(place.model_path);
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  place.plant(0, place.logits(rows_of(run, 0), plain.get()));
  CHECK(place.cause(true) == "rope scaling is off");
}

TEST_CASE("doctor with the model: a temperature before recording") {
  Place place;
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  auto logits = place.logits(rows_of(run, 0));
  for (float& logit : logits) logit /= 0.7f;
  place.plant(0, logits);
  const std::string cause = place.cause();
  CHECK(contains(cause, "a temperature is applied"));
  CHECK(contains(cause, "(0.7)"));
}

TEST_CASE("doctor with the model: two mistakes at once are found as a pair") {
  Place place;
  place.decode();
  const auto capture = Capture::open(place.path);
  const RunView run(*capture);
  const std::int32_t node = siblings(*capture).front().second;
  auto rows = rows_of(run, node);
  rows.back().position -= 1;
  auto logits = place.logits(rows);
  for (float& logit : logits) logit /= 1.5f;
  place.plant(node, logits);
  const std::string cause = place.cause();
  CHECK(contains(cause, "a temperature is applied"));
  CHECK(contains(cause, "the position is one too low"));
}

TEST_CASE("doctor with the model: the text of other weights is no greedy text of these") {
  Place place;
  place.decode("greedy");
  const auto other = load_model(place.written(5, false));
  const auto groups = doctor::diagnose_with(*Capture::open(place.path), {.model = *other});
  const auto text = std::ranges::find(groups, Code::kTextGreedy,
                                      [](const FindingGroup& group) { return group.first.code; });
  REQUIRE(text != groups.end());
  CHECK(contains(text->first.kind, "fault"));
  CHECK(contains(text->first.text, "token 1 of the text"));
}

}  // namespace
}  // namespace triescope::test::test_causes

// With the model: rows are computed again from their paths. A run of a small model has no finding; where
// one recorded row was made with a mistake, the mistake is named. The wrong rows are computed here, by one
// forward with the tokens, positions and lists of the mistake.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/methods/registry.h"
#include "tests/unit/doctor/causes_place.h"

namespace triescope::test::test_causes {
namespace {

using namespace causes;

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
  Place place(Layers::kScaledRope);
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
  const auto other = load_model(place.written(5));
  const auto groups = doctor::diagnose_with(*Capture::open(place.path), {.model = *other});
  const auto text = std::ranges::find(groups, Code::kTextGreedy,
                                      [](const FindingGroup& group) { return group.first.code; });
  REQUIRE(text != groups.end());
  CHECK(contains(text->first.kind, "fault"));
  CHECK(contains(text->first.text, "token 1 of the text"));
}

}  // namespace
}  // namespace triescope::test::test_causes

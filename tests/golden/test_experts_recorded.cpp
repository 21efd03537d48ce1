// What a run of a mixture records of its experts.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/session/session.h"
#include "tests/support/device.h"
#include "tests/support/fake_model.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace test_experts_recorded {

using Tokens = std::vector<std::int32_t>;
const Tokens kPrompt = {7, 9, 11, 7, 9, 11, 7, 9, 11, 7, 9};

struct Run {
  explicit Run(const std::string& golden, const std::string& method,
               capture::Level level = capture::Level::kFull)
      : recorder(level) {
    write_golden_case(golden, folder.path());
    model = load_model(folder.path().string(), {.device = test_device(), .threads = 2});
    RunConfig config;
    config.method = method;
    config.settings["eos_token_id"] = {-1};
    config.prompt_tokens = kPrompt;
    config.max_new_tokens = 20;
    const FakeTokenizer tokenizer(model->info().vocab_size, {});
    Session session(*model, tokenizer, config, recorder);
    session.run();
    result = session.result();
    for (const capture::NodeRow& row : recorder.node_rows) parent[row.node] = row.parent;
  }
  // The tokens from the prompt to a node.
  Tokens path_to(std::int32_t node) const {
    Tokens path;
    for (; node > 0; node = parent.at(node))
      path.insert(path.begin(), recorder.node_rows[static_cast<std::size_t>(node)].token);
    return path;
  }
  // What each path chose in each layer.
  using Choices = std::map<std::pair<Tokens, std::int32_t>, Tokens>;
  Choices choices() const {
    Choices all;
    for (const capture::ExpertRow& row : recorder.expert_rows)
      all[{path_to(row.node), row.layer}] = row.experts;
    return all;
  }

  TempDir folder;
  std::unique_ptr<Model> model;
  MemoryRecorder recorder;
  RunResult result;
  std::map<std::int32_t, std::int32_t> parent;
};

TEST_CASE("recorded experts: each row has its layers' experts, ascending, with their weights") {
  const Run run("mixtral", "prompt_lookup");
  REQUIRE(!run.recorder.expert_rows.empty());
  std::map<std::pair<capture::Tick, std::int32_t>, std::set<std::int32_t>> layers;
  for (const capture::ExpertRow& row : run.recorder.expert_rows) {
    CHECK(capture::phase_of(row.tick) == capture::Phase::kForward);
    REQUIRE(row.experts.size() == 2);
    CHECK(row.experts[0] < row.experts[1]);
    CHECK(row.experts[1] < 4);
    REQUIRE(row.weights.size() == 2);
    CHECK(row.weights[0] + row.weights[1] == doctest::Approx(1));
    CHECK(layers[{row.tick, row.node}].insert(row.layer).second);
  }
  // Every row of every forward after prefill, and of the prompt its last.
  std::size_t inputs = 1;
  for (const capture::InputRow& row : run.recorder.input_rows) inputs += row.step > 0;
  CHECK(layers.size() == inputs);
  for (const auto& [row, of_row] : layers) CHECK(of_row.size() == 4);
}

TEST_CASE("recorded experts: weights have the scale that an expert has of its own") {
  const Run run("gemma4 experts", "greedy");
  std::set<std::int32_t> layers;
  bool another_sum = false;
  for (const capture::ExpertRow& row : run.recorder.expert_rows) {
    layers.insert(row.layer);
    REQUIRE(row.experts.size() == 2);
    CHECK(row.experts[0] < row.experts[1]);
    // Divided by their sum, then each times a scale between 0.75 and 1.25.
    const double sum = row.weights[0] + row.weights[1];
    CHECK(sum > 0.75);
    CHECK(sum < 1.25);
    another_sum = another_sum || std::abs(sum - 1) > 0.01;
  }
  CHECK(layers == std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(another_sum);
}

TEST_CASE("recorded experts: layers without experts have none") {
  const Run run("qwen2_moe layers without experts, windows", "greedy");
  std::set<std::int32_t> layers;
  for (const capture::ExpertRow& row : run.recorder.expert_rows) layers.insert(row.layer);
  CHECK(layers == std::set<std::int32_t>{0, 2, 3});
}

TEST_CASE("recorded experts: a path chooses the same whatever rows stand beside it") {
  const Run alone("olmoe", "greedy"), beside("olmoe", "prompt_lookup");
  CHECK(alone.result.sequences[0].tokens == beside.result.sequences[0].tokens);
  const auto one = alone.choices(), other = beside.choices();
  std::size_t shared = 0;
  for (const auto& [path, experts] : one)
    if (const auto found = other.find(path); found != other.end()) {
      ++shared;
      CHECK(found->second == experts);
    }
  CHECK(shared > 40);
}

TEST_CASE("recorded experts: the result counts the different experts that a layer reads") {
  const Run run("mixtral", "prompt_lookup");
  std::map<std::pair<capture::Tick, std::int32_t>, std::set<std::int32_t>> read;
  for (const capture::ExpertRow& row : run.recorder.expert_rows)
    if (capture::step_of(row.tick) > 0)
      read[{row.tick, row.layer}].insert(row.experts.begin(), row.experts.end());
  double sum = 0;
  for (const auto& [layer, experts] : read) sum += static_cast<double>(experts.size());
  CHECK(run.result.expert_layers == 4);
  CHECK(run.result.experts_a_layer == doctest::Approx(sum / static_cast<double>(read.size())));
  CHECK(run.result.experts_a_layer > 2);
  CHECK(Run("llama", "greedy").result.expert_layers == 0);
}

TEST_CASE("recorded experts: a run that nobody watches, or less than fully, records none") {
  const Run run("mixtral", "greedy", capture::Level::kTree);
  CHECK(run.recorder.expert_rows.empty());
  CHECK(run.result.experts_a_layer == 2);
}

}  // namespace test_experts_recorded
}  // namespace triescope::test

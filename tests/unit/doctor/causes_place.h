// A run of a small model, and one recorded row of it put in another's place: what the doctor says the mistake is.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/count_up.h"
#include "core/capture/writer.h"
#include "core/doctor/model/model_checks.h"
#include "core/doctor/run_view.h"
#include "core/method/method.h"
#include "core/model/rope_scaling.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/sql.h"
#include "tests/unit/app/tiny_model.h"
#include "tests/unit/doctor/made_run.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::causes {

using doctor::Code;
using doctor::FindingGroup;
using doctor::RunView;

constexpr std::int32_t kBos = 1;

enum class Layers { kAttention, kScaledRope, kConvolutions };

struct Row {
  std::int32_t token, position;
  std::vector<std::int32_t> sees;  // earlier rows
};

struct Place {
  TempDir dir;
  std::string path, model_path;
  std::unique_ptr<Model> model;
  Layers layers;
  explicit Place(Layers layers = Layers::kAttention) : layers(layers) {
    model_path = written(1);
    model = load_model(model_path);
    path = dir.path() / "run.tscap";
  }
  std::string written(std::uint64_t seed) const {
    if (layers == Layers::kConvolutions) {
      write_golden_case("lfm2", dir.path());
      return dir.path().string();
    }
    GgufWriter writer = app::tiny_model({.seed = seed});
    writer.add("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(kBos));
    if (layers == Layers::kScaledRope) {
      writer.add("llama.rope.scaling.type", std::string("linear"));
      writer.add("llama.rope.scaling.factor", 4.0f);
    }
    const std::filesystem::path file = dir.path() / ("model" + std::to_string(seed) + ".gguf");
    write_file(file, writer.bytes());
    return file.string();
  }

  void decode(const std::string& method = "draft_model") {
    FakeTokenizer tokenizer(model->info().vocab_size, {});
    const std::unique_ptr<Model> draft = load_model(written(2));
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
    std::vector<std::int32_t> order = count_up(logits.size());
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

inline std::vector<Row> rows_of(const RunView& run, std::int32_t node) {
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

// Drafts whose rows were recorded, with a recorded sibling before them in the batch.
struct Siblings {
  std::int32_t first, second;
};
inline std::vector<Siblings> siblings(const Capture& capture) {
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

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace triescope::test::causes

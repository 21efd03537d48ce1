// The small heads of tests/fixtures/draft_heads, one of every published format, against what an
// independent script in PyTorch computes of them (tests/golden/make_heads.py): for every way to run
// a head, which follows its target's executor.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/files/draft_head/head_file.h"
#include "core/model/heads/draft_head.h"
#include "tests/support/paths.h"

namespace triescope::test {

inline std::string head_folder() { return source_dir().string() + "/tests/fixtures/draft_heads/"; }

inline nlohmann::json read_head_json(const std::string& path) {
  std::ifstream file(head_folder() + path);
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

inline std::vector<float> floats(const nlohmann::json& values) {
  return values.get<std::vector<float>>();
}

inline std::vector<float> copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

// Of a value, or of the largest where that is above 1; infinity where one is not a number.
inline double largest_difference(std::span<const float> found, std::span<const float> expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 0, scale = 1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  // States that are fed back are not normed: those of random weights grow into the thousands.
  for (const float x : expected) scale = std::max(scale, std::abs(static_cast<double>(x)));
  return largest / scale;
}

// How near a way of running heads comes.
struct HeadTolerance {
  double value = 2e-4;  // as largest_difference
  // "Path only", bit for bit: a row of a level has the bits that it has alone.
  bool same_bits = false;
  // Of drafted states too. Without it the text's rows alone: EAGLE feeds back states without a norm,
  // so a rounding error grows from one draft to the next, until attention looks elsewhere.
  bool drafts = true;
};

// The heads' target and a text of its own, with its hidden states and logits.
struct HeadTarget {
  explicit HeadTarget(std::unique_ptr<Model> target) : model(std::move(target)) {}

  // The states that a head reads at a position, one after the other.
  std::vector<float> states(const DraftHead& head, std::size_t position) const {
    std::vector<float> joined;
    for (const std::int32_t layer : head.feature_layers())
      for (const float x : floats(text["features"][std::to_string(layer)][position]))
        joined.push_back(x);
    return joined;
  }
  std::unique_ptr<DraftHead> head(const std::string& name) const {
    return load_draft_head(head_folder() + name, *model, 1);
  }
  std::int32_t pairs() const { return static_cast<std::int32_t>(tokens.size()) - 1; }

  std::unique_ptr<Model> model;
  nlohmann::json text = read_head_json("target/features.json");
  std::vector<std::int32_t> tokens = text["tokens"].get<std::vector<std::int32_t>>();
};

// Logits of the target's vocabulary against an answer's, which are of the draft vocabulary.
inline double logit_difference(std::span<const float> found, const nlohmann::json& answer,
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

inline std::vector<std::int64_t> draft_vocabulary_of(const std::string& name) {
  const formats::HeadFile file = formats::HeadFile::open(head_folder() + name, {});
  return file.has("d2t") ? file.tensor("d2t").integers() : std::vector<std::int64_t>();
}

inline std::vector<std::int32_t> up_to(std::int32_t slot) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i <= slot; ++i) all.push_back(i);
  return all;
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

// The text's rows: token t + 1 with the target's states at t, in slot t.
inline std::vector<HeadRun::Row> text_rows(const HeadTarget& target, const DraftHead& head) {
  std::vector<HeadRun::Row> rows;
  for (std::int32_t t = 0; t < target.pairs(); ++t)
    rows.push_back({target.tokens[static_cast<std::size_t>(t) + 1], t, t, up_to(t),
                    target.states(head, static_cast<std::size_t>(t))});
  return rows;
}

// An EAGLE or EAGLE-3 head over the text, then what hangs below it.
class EagleCheck {
 public:
  EagleCheck(const HeadTarget& target, const std::string& name, HeadTolerance tolerance)
      : target_(target),
        tolerance_(tolerance),
        answers_(read_head_json(name + "/answers.json")),
        offsets_(draft_vocabulary_of(name)),
        head_(target.head(name)),
        run_(*head_),
        hidden_(static_cast<std::size_t>(head_->layers->info().hidden)) {
    CHECK(formats::to_string(head_->config.kind) == answers_["kind"].get<std::string>());
    CHECK(head_->feature_layers() == answers_["layers"].get<std::vector<std::int32_t>>());
    CHECK(head_->layers->info().dtype == target.model->info().dtype);
    CHECK(head_->layers->info().device == target.model->info().device);
  }

  void run() {
    text();
    if (!tolerance_.drafts) return;
    chain(0);
    tree();
    // The text's KV elsewhere, as a policy that compacts leaves it: the old slots are not read.
    constexpr std::int32_t kElsewhere = 64;
    const std::vector<std::int32_t> from = up_to(target_.pairs() - 1);
    std::vector<std::int32_t> to;
    for (const std::int32_t slot : from) to.push_back(slot + kElsewhere);
    run_.kv->reserve(2 * kElsewhere);
    run_.kv->move(from, to);
    chain(kElsewhere);
  }

 private:
  void check(std::span<const float> logits, std::span<const float> state,
             const nlohmann::json& answer) const {
    CHECK(logit_difference(logits, answer["logits"], offsets_) < tolerance_.value);
    CHECK(largest_difference(state, floats(answer["state"])) < tolerance_.value);
  }

  void text() {
    const std::vector<HeadRun::Row> rows = text_rows(target_, *head_);
    const ForwardOutput output = run_.run(rows);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      CAPTURE(t);
      check(output.row(static_cast<int>(t)), output.features.subspan(t * hidden_, hidden_),
            answers_["text"][t]);
    }
    last_ = copy(output.features.subspan((rows.size() - 1) * hidden_, hidden_));
  }

  // Each row with the state that the row before it gave; the text's KV from slot `first` on.
  void chain(std::int32_t first) {
    std::vector<float> state = last_;
    std::vector<std::int32_t> seen;
    for (std::int32_t t = 0; t < target_.pairs(); ++t) seen.push_back(first + t);
    std::int32_t position = target_.pairs();
    for (const nlohmann::json& answer : answers_["chain"]) {
      CHECK(answer["position"] == position);
      seen.push_back(first + position);
      const ForwardOutput output =
          run_.run({{answer["token"], position, first + position, seen, state}});
      state = copy(output.features);
      check(output.row(0), state, answer);
      ++position;
    }
    next_slot_ = first + position;
  }

  // A level at a time, its siblings in one forward.
  void tree() {
    struct Made {
      std::vector<std::int32_t> seen;
      std::vector<float> state, logits;
    };
    const nlohmann::json& answers = answers_["tree"];
    std::vector<Made> made(answers.size());
    for (std::int32_t position = target_.pairs(); position < target_.pairs() + 4; ++position) {
      std::vector<HeadRun::Row> level;
      std::vector<std::size_t> nodes;
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const nlohmann::json& node = answers[i];
        if (node["position"] != position) continue;
        const int parent = node["parent"];
        std::vector<std::int32_t> seen =
            parent < 0 ? up_to(target_.pairs() - 1) : made[static_cast<std::size_t>(parent)].seen;
        seen.push_back(next_slot_);
        level.push_back({node["token"], position, next_slot_++, seen,
                         parent < 0 ? last_ : made[static_cast<std::size_t>(parent)].state});
        made[i].seen = seen;
        nodes.push_back(i);
      }
      if (level.empty()) continue;
      ForwardOutput output = run_.run(level);
      for (std::size_t r = 0; r < nodes.size(); ++r) {
        made[nodes[r]].state = copy(output.features.subspan(r * hidden_, hidden_));
        made[nodes[r]].logits = copy(output.row(static_cast<int>(r)));
      }
      for (std::size_t r = 0; r < nodes.size() && tolerance_.same_bits; ++r) {
        output = run_.run({level[r]});
        CHECK(copy(output.row(0)) == made[nodes[r]].logits);
        CHECK(copy(output.features) == made[nodes[r]].state);
      }
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      CAPTURE(i);
      check(made[i].logits, made[i].state, answers[i]);
    }
  }

  const HeadTarget& target_;
  const HeadTolerance tolerance_;
  const nlohmann::json answers_;
  const std::vector<std::int64_t> offsets_;
  const std::unique_ptr<DraftHead> head_;
  HeadRun run_;
  const std::size_t hidden_;
  std::vector<float> last_;  // state of the text's last row
  std::int32_t next_slot_ = 0;
};

inline void check_eagle_heads(const HeadTarget& target, HeadTolerance tolerance = {}) {
  for (const std::string name :
       {"eagle", "eagle-no-bias", "eagle-qwen2", "eagle-vllm", "eagle-speculators", "eagle3",
        "eagle3-full-vocabulary", "eagle3-specforge", "eagle3-norm-before-residual",
        "eagle3-norm-before-fc", "eagle3-fc-norm", "eagle3-two-layers", "eagle3-qwen3",
        "eagle3-wide", "eagle3-no-fc"}) {
    CAPTURE(name);
    EagleCheck(target, name, tolerance).run();
  }
}

inline void check_medusa_heads(const HeadTarget& target, HeadTolerance tolerance = {}) {
  for (const std::string name : {"medusa", "medusa-two-layers", "medusa-v2", "medusa-2",
                                 "medusa-vllm", "medusa-vllm-one-head"}) {
    CAPTURE(name);
    const nlohmann::json answers = read_head_json(name + "/answers.json");
    const auto head = target.head(name);
    CHECK(head->config.kind == formats::HeadKind::kMedusa);
    CHECK(head->layers == nullptr);
    CHECK_FALSE(head->tokens->reads_tokens());
    CHECK(head->feature_layers() == std::vector<std::int32_t>{kFinalNorm});
    CHECK(head->tokens->count() == static_cast<int>(answers["logits"][0].size()));
    const std::vector<std::int64_t> offsets = draft_vocabulary_of(name);
    for (std::size_t t = 0; t < target.tokens.size(); ++t)
      for (int h = 0; h < head->tokens->count(); ++h) {
        const std::vector<float> state = target.states(*head, t);
        CHECK(logit_difference(head->tokens->logits(h, state, {}),
                               answers["logits"][t][static_cast<std::size_t>(h)],
                               offsets) < tolerance.value);
      }
    // All of them at once.
    for (std::size_t t = 0; t < target.tokens.size(); ++t) {
      const std::vector<float> state = target.states(*head, t);
      const ForwardOutput all = head->tokens->first_rows(head->tokens->count(), state, 0);
      std::vector<std::vector<float>> rows;
      for (int h = 0; h < head->tokens->count(); ++h) rows.push_back(copy(all.row(h).whole()));
      for (int h = 0; h < head->tokens->count(); ++h) {
        const std::vector<float>& row = rows[static_cast<std::size_t>(h)];
        CHECK(logit_difference(row, answers["logits"][t][static_cast<std::size_t>(h)], offsets) <
              tolerance.value);
        if (tolerance.same_bits) CHECK(row == copy(head->tokens->logits(h, state, {})));
      }
    }
  }
}

inline void check_hydra_heads(const HeadTarget& target, HeadTolerance tolerance = {}) {
  for (const std::string name : {"hydra", "hydra-mlp", "hydra-shared-head"}) {
    CAPTURE(name);
    const nlohmann::json answers = read_head_json(name + "/answers.json");
    const auto head = target.head(name);
    CHECK(head->config.kind == formats::HeadKind::kHydra);
    CHECK(head->tokens->reads_tokens());
    CHECK(head->feature_layers() == answers["layers"].get<std::vector<std::int32_t>>());
    CHECK((head->layers != nullptr) == (name != "hydra-mlp"));
    std::vector<float> state = target.states(*head, static_cast<std::size_t>(target.pairs()) - 1);
    if (head->layers) {
      HeadRun run(*head);
      const std::vector<HeadRun::Row> rows = text_rows(target, *head);
      const ForwardOutput output = run.run(rows);
      CHECK(output.logits.empty());
      for (std::size_t t = 0; t < rows.size(); ++t)
        CHECK(largest_difference(output.features.subspan(t * 16, 16),
                                 floats(answers["prefix"][t])) < tolerance.value);
      state = copy(output.features.last(16));
    }
    for (const std::string part : {"chain", "tree"}) {
      std::vector<std::vector<std::int32_t>> paths(5);  // by head, one after the other
      std::vector<std::vector<nlohmann::json>> wanted(5);
      for (const nlohmann::json& answer : answers[part]) {
        const auto path = answer["tokens"].get<std::vector<std::int32_t>>();
        paths[path.size() - 1].insert(paths[path.size() - 1].end(), path.begin(), path.end());
        wanted[path.size() - 1].push_back(answer["logits"]);
      }
      for (std::size_t h = 0; h < paths.size(); ++h) {
        if (wanted[h].empty()) continue;
        const auto logits = head->tokens->logits(static_cast<int>(h), state, paths[h]);
        REQUIRE(logits.size() == wanted[h].size() * 64);
        for (std::size_t r = 0; r < wanted[h].size(); ++r)
          CHECK(largest_difference(logits.subspan(r * 64, 64), floats(wanted[h][r])) <
                tolerance.value);
      }
    }
  }
}

}  // namespace triescope::test

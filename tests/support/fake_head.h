// Draft heads for tests, in a trained head's place. FakeHead is a Model whose rows read a hidden state:
// its KV is real (a slot holds token, position and state), and what a row gives is a function of the
// (token, state) pairs that it sees through its list of slots, in order. A state that came from elsewhere,
// a wrong slot, position or order therefore give other logits and other states. FakeTokenHeads are
// Medusa's and Hydra's: any function of head, state and tokens. FakeBlockHead (fake_block_head.h) is DFlash's.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/heads/draft_head.h"
#include "tests/support/fake_block_head.h"
#include "tests/support/fake_model.h"
#include "tests/support/pair_kv.h"

namespace triescope::test {

inline std::uint64_t hash_of(std::span<const Pair> seen) {
  std::uint64_t hash = 1469598103934665603ULL;
  const auto mix = [&](std::uint64_t x) { hash = (hash ^ x) * 1099511628211ULL + (hash >> 29); };
  for (const Pair& pair : seen) {
    mix(static_cast<std::uint64_t>(pair.token));
    for (const float x : pair.state)
      mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(x * 8)));
  }
  return hash;
}

class FakeHead final : public Model {
 public:
  using LogitsOf = std::function<std::vector<float>(const Pairs& seen)>;

  // Its own states are {hash of what the row sees, -2}: `state_of`.
  FakeHead(int vocab_size, int context, LogitsOf logits_of) : logits_of_(std::move(logits_of)) {
    info_.name = "fake head";
    info_.vocab_size = vocab_size;
    info_.context = context;
    info_.layers = 1;
    info_.hidden = 2;
  }
  static std::vector<float> state_of(std::span<const Pair> seen) {
    return {static_cast<float>(hash_of(seen) >> 44), -2};
  }

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<PairKv>(capacity);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto& cells = dynamic_cast<PairKv&>(kv).cells;
    const std::size_t rows = batch.tokens.size();
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "fake head: stopped");
    if (batch.input_features.empty() || batch.input_features.size() % rows != 0)
      bad("expected the same number of input features for every row");
    const std::size_t width = batch.input_features.size() / rows;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto state = batch.input_features.subspan(r * width, width);
      cells.at(static_cast<std::size_t>(batch.slots[r])) = {
          batch.tokens[r], {state.begin(), state.end()}, batch.positions[r]};
    }
    logits_.clear();
    features_.clear();
    for (const std::int32_t row : batch.logit_rows) {
      const std::vector<float> made = logits_of_(seen_by(batch, row, cells));
      logits_.insert(logits_.end(), made.begin(), made.end());
    }
    for (const std::int32_t layer : batch.feature_layers)
      for (const std::int32_t row : batch.feature_rows) {
        if (layer != (final_norm ? kFinalNorm : info_.layers))
          bad("expected the state that is fed back to be asked for, found layer " +
              std::to_string(layer));
        for (const float x : state_of(seen_by(batch, row, cells))) features_.push_back(x);
      }
    for (std::size_t r = 0; r < rows; ++r)
      seen.push_back(seen_by(batch, static_cast<std::int32_t>(r), cells));
    ++forwards;
    return {.logits = logits_, .features = features_, .vocab_size = info_.vocab_size};
  }

  std::vector<Pairs> seen;  // of every row run, in order
  int forwards = 0;
  bool final_norm = false;  // what is fed back is kFinalNorm, not the last layer's

 private:
  [[noreturn]] static void bad(const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "fake head: " + what);
  }
  static Pairs seen_by(const ForwardBatch& batch, std::int32_t row, const Pairs& cells) {
    const auto r = static_cast<std::size_t>(row);
    std::vector<std::int32_t> list(batch.prefix_slots.begin(), batch.prefix_slots.end());
    if (batch.own_offsets.empty())
      list.insert(list.end(), batch.slots.begin(),
                  batch.slots.begin() + static_cast<std::ptrdiff_t>(r) + 1);
    else
      list.insert(list.end(), batch.own_slots.begin() + batch.own_offsets[r],
                  batch.own_slots.begin() + batch.own_offsets[r + 1]);
    Pairs seen;
    for (const std::int32_t slot : list) {
      seen.push_back(cells.at(static_cast<std::size_t>(slot)));
      if (seen.back().position != static_cast<std::int32_t>(seen.size()) - 1)
        bad("row " + std::to_string(row) + " sees slot " + std::to_string(slot) +
            ", which holds position " + std::to_string(seen.back().position) + ", at place " +
            std::to_string(seen.size() - 1));
    }
    if (seen.empty() || seen.back().position != batch.positions[r])
      bad("a row's position is not its place in its path");
    return seen;
  }

  ModelInfo info_;
  LogitsOf logits_of_;
  std::vector<float> logits_, features_;
};

class FakeTokenHeads final : public TokenHeads {
 public:
  using LogitsOf = std::function<std::vector<float>(int head, std::span<const float> state,
                                                    std::span<const std::int32_t> tokens)>;
  FakeTokenHeads(int count, bool reads_tokens, LogitsOf logits_of)
      : count_(count), reads_tokens_(reads_tokens), logits_of_(std::move(logits_of)) {}
  int count() const override { return count_; }
  bool reads_tokens() const override { return reads_tokens_; }
  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t> tokens) override {
    states.emplace_back(state.begin(), state.end());
    logits_.clear();
    const std::size_t seen = static_cast<std::size_t>(head) + 1;
    const std::size_t rows = reads_tokens_ ? tokens.size() / seen : 1;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto made =
          logits_of_(head, state, reads_tokens_ ? tokens.subspan(r * seen, seen) : tokens.first(0));
      logits_.insert(logits_.end(), made.begin(), made.end());
    }
    return logits_;
  }
  std::vector<std::vector<float>> states;  // of every call

 private:
  int count_;
  bool reads_tokens_;
  LogitsOf logits_of_;
  std::vector<float> logits_;
};

// Heads of each kind around such parts. EAGLE-3's reads layers 1, 2 and 4 of the fake model.
inline std::unique_ptr<DraftHead> eagle_head(formats::HeadKind kind,
                                             std::unique_ptr<FakeHead> layers) {
  auto head = std::make_unique<DraftHead>();
  head->config.kind = kind;
  head->config.layers = 1;
  head->config.norm_output = layers->final_norm = kind == formats::HeadKind::kMtp;
  head->config.feature_layers =
      kind == formats::HeadKind::kEagle3 ? std::vector<int>{1, 2, 4} : std::vector<int>{kFinalNorm};
  head->path = "fake";
  head->layers = std::move(layers);
  return head;
}
inline std::unique_ptr<DraftHead> token_head(formats::HeadKind kind,
                                             std::unique_ptr<FakeTokenHeads> tokens) {
  auto head = std::make_unique<DraftHead>();
  head->config.kind = kind;
  head->config.feature_layers = {kFinalNorm};
  head->path = "fake";
  head->tokens = std::move(tokens);
  return head;
}

// SPACE's masks for a fake model, which makes rows of them by itself.
inline std::unique_ptr<DraftHead> space_head(int masks, int prefix, int layers = 4) {
  auto head = std::make_unique<DraftHead>();
  head->config.kind = formats::HeadKind::kSpace;
  head->path = "fake";
  head->masks = std::make_unique<MaskInputs>();
  head->masks->count = masks;
  head->masks->prefix = prefix;
  head->masks->embeddings.assign(static_cast<std::size_t>(2 * masks), 0.0f);
  head->masks->prefix_keys.assign(static_cast<std::size_t>(layers * prefix), 0.0f);
  head->masks->prefix_values = head->masks->prefix_keys;
  return head;
}

// A DFlash head that reads what enters layers 1 and 3 of the fake model.
inline std::unique_ptr<DraftHead> block_head(std::unique_ptr<Model> layers, int block_size) {
  auto head = std::make_unique<DraftHead>();
  head->config.kind = formats::HeadKind::kDFlash;
  head->config.layers = 1;
  head->config.feature_layers = {1, 3};
  head->config.block_size = block_size;
  head->config.mask_token = 1;
  head->path = "fake";
  head->layers = std::move(layers);
  return head;
}

// Heads of any kind that agree with a fake model now and then: their logits are those of another one,
// of `seed`, over what they know of the text.
inline std::unique_ptr<DraftHead> fake_head(formats::HeadKind kind, int vocab_size, int context,
                                            std::uint64_t seed,
                                            const std::vector<std::int32_t>& chain = {}) {
  if (kind == formats::HeadKind::kSpace) return space_head(3, 2);
  const auto model = std::make_shared<FakeModel>(
      FakeOptions{.vocab_size = vocab_size, .seed = seed, .eos_token_ids = {}, .chain = chain});
  if (kind == formats::HeadKind::kDFlash)
    return block_head(std::make_unique<FakeBlockHead>(model, context), 5);
  if (kind == formats::HeadKind::kMedusa || kind == formats::HeadKind::kHydra) {
    return token_head(kind, std::make_unique<FakeTokenHeads>(
                                4, kind == formats::HeadKind::kHydra,
                                [model, vocab_size](int head, std::span<const float> state,
                                                    std::span<const std::int32_t> tokens) {
                                  std::vector<std::int32_t> key(tokens.begin(), tokens.end());
                                  if (key.empty())
                                    key = {head, static_cast<std::int32_t>(state[0]) % vocab_size};
                                  return model->logits_of(key);
                                }));
  }
  return eagle_head(kind,
                    std::make_unique<FakeHead>(vocab_size, context, [model](const Pairs& seen) {
                      std::vector<std::int32_t> text;
                      for (const Pair& pair : seen) text.push_back(pair.token);
                      return model->logits_of(text);
                    }));
}

}  // namespace triescope::test

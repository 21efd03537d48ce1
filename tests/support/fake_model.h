// A deterministic model for tests. Its KV is real: a slot holds the token and the position that
// were written to it, and a row's logits are a hash of what it sees through its list of slots, in
// order. A wrong slot, a wrong mask, a wrong position or a move that lost something therefore gives
// other logits; a slot never written, or a list that is not one path, throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/kv_copies.h"
#include "core/model/kv_slots.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::test {

struct FakeOptions {
  int vocab_size = 32;
  std::uint64_t seed = 1;
  int context = 4096;
  int sliding_window = 0;
  bool all_layers_slide = false;  // ModelInfo::kv_window: lists may begin where the window does
  // ModelInfo::kv_valid_until: KV remembers whether its text was longer, a row that sees KV of both
  // kinds throws, and logits of the two kinds differ.
  int kv_valid_until = 0;
  std::vector<std::int32_t> eos_token_ids = {0};
  float eos_boost = 0;  // added to the logits of EOS tokens
  float spread = 3;     // logits are uniform in [-spread, spread]; small = many near ties
  int layers = 4;       // the stop token is looked at once a layer
  // A text the model likes: after `chain[i]` it wants `chain[i + 1]` (logit + 20). Makes drafts
  // come true. Empty = off.
  std::vector<std::int32_t> chain = {};
  int quantum =
      0;  // > 0: logits are rounded to multiples of 1 / quantum, so that exact ties are common
  int prefill_rows = static_cast<int>(kPrefillChunk);
  int path_only_rows = 0;
};

// A mask's number in a path, as what a slot holds of it; below kFakePrefix: a position of the prefix that
// masks alone see, -100 the first.
inline constexpr std::int32_t kFakeMask = 1000, kFakePrefix = -100;

class FakeKv final : public KvStorage, public KvCopies {
 public:
  struct Cell {
    std::int32_t token = -1;  // -1 = never written
    std::int32_t position = -1;
    bool of_long_text = false;
  };
  explicit FakeKv(int capacity) : cells(static_cast<std::size_t>(capacity)) {}
  int capacity() const override { return static_cast<int>(cells.size()); }
  std::int64_t bytes_per_slot() const override { return 64; }
  void reserve(int capacity) override {
    grow(this->capacity(), capacity,
         [this](int wanted) { cells.resize(static_cast<std::size_t>(wanted)); });
  }
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override {
    if (from.size() != to.size())
      throw Error(ErrorCode::kInvalidArgument, "fake kv: from and to differ in length");
    std::vector<Cell> read;
    for (const auto slot : from) read.push_back(cells.at(static_cast<std::size_t>(slot)));
    for (std::size_t i = 0; i < to.size(); ++i) cells.at(static_cast<std::size_t>(to[i])) = read[i];
  }
  void write(std::span<const std::int32_t> slots, std::span<const float>,
             std::span<const float>) override {
    for (std::size_t i = 0; i < slots.size(); ++i)
      cells.at(static_cast<std::size_t>(slots[i])).token =
          kFakePrefix - static_cast<std::int32_t>(i);
  }
  bool copy_from(const KvStorage& other, std::span<const std::int32_t> from,
                 std::span<const std::int32_t> to, std::span<const std::int32_t>) override {
    const std::vector<Cell>& theirs = dynamic_cast<const FakeKv&>(other).cells;
    for (std::size_t i = 0; i < to.size(); ++i)
      cells.at(static_cast<std::size_t>(to[i])) = theirs.at(static_cast<std::size_t>(from[i]));
    copied += static_cast<std::int64_t>(to.size());
    return true;
  }
  std::vector<Cell> cells;
  std::int64_t copied = 0;  // slots taken over from another storage
};

class FakeModel final : public Model {
 public:
  explicit FakeModel(FakeOptions options = {}) : options_(std::move(options)) {
    info_.name = "fake";
    info_.path = "fake";
    info_.family = "fake";
    info_.format = "none";
    info_.vocab_size = options_.vocab_size;
    info_.context = options_.context;
    info_.sliding_window = options_.sliding_window;
    if (options_.all_layers_slide) info_.kv_window = options_.sliding_window;
    info_.kv_valid_until = options_.kv_valid_until;
    info_.eos_token_ids = options_.eos_token_ids;
    info_.layers = options_.layers;
    info_.heads = info_.kv_heads = info_.head_dim = 1;
    info_.hidden = 2;
    info_.device = "cpu";
    info_.prefill_rows = options_.prefill_rows;
    info_.path_only_rows = options_.path_only_rows;
  }

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    auto made = std::make_unique<FakeKv>(capacity);
    kv = made.get();
    return made;
  }

  std::unique_ptr<KvStorage> make_kv_of(int capacity, std::span<const std::int32_t>) override {
    return std::make_unique<FakeKv>(capacity);
  }

  // The logits of a path (prompt and generated tokens), as an oracle would compute them.
  std::vector<float> logits_of(std::span<const std::int32_t> path) const {
    std::vector<FakeKv::Cell> cells;
    for (std::size_t i = 0; i < path.size(); ++i)
      cells.push_back({path[i], static_cast<std::int32_t>(i), is_long(path.size())});
    std::vector<float> row(static_cast<std::size_t>(options_.vocab_size));
    fill(cells, row);
    return row;
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv,
                        std::stop_token stop = {}) override {
    auto& cells = dynamic_cast<FakeKv&>(kv).cells;
    const auto rows = batch.tokens.size();
    const auto bad = [](const std::string& what) {
      throw Error(ErrorCode::kInvalidArgument, "fake model: " + what);
    };
    if (batch.positions.size() != rows || batch.slots.size() != rows)
      bad("tokens, positions and slots differ in length");
    if (!batch.own_offsets.empty() && batch.own_offsets.size() != rows + 1)
      bad("own_offsets has not rows + 1 entries");
    forwards += 1;
    layers_key_ = 0;  // a part of the layers is another model
    for (const std::int32_t part : batch.sublayers)
      layers_key_ = mix(layers_key_ + static_cast<std::uint64_t>(part) + 1);
    forward_rows += static_cast<std::int64_t>(rows);
    for (int layer = 0; layer < options_.layers; ++layer) {
      if (on_layer) on_layer(layer);
      if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "fake model: stopped");
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const bool mask = is_mask(batch, r);
      const auto inputs =
          mask ? static_cast<std::int32_t>(batch.masks.embeddings.size()) / 2 : options_.vocab_size;
      if (batch.tokens[r] < 0 || batch.tokens[r] >= inputs) bad("token out of range");
      const auto slot = static_cast<std::size_t>(batch.slots[r]);
      if (slot >= cells.size()) bad("slot " + std::to_string(batch.slots[r]) + " is not reserved");
      if (std::count(batch.slots.begin(), batch.slots.end(), batch.slots[r]) != 1)
        bad("a slot is written twice");
      const auto length = std::max(batch.text_length, batch.positions[r] + 1);
      cells[slot] = {batch.tokens[r] + (mask ? kFakeMask : 0), batch.positions[r],
                     is_long(static_cast<std::size_t>(length))};
    }
    logits_.assign(batch.logit_rows.size() * static_cast<std::size_t>(options_.vocab_size), 0.0f);
    for (std::size_t i = 0; i < batch.logit_rows.size(); ++i) {
      const std::vector<FakeKv::Cell> seen = seen_by(batch, batch.logit_rows[i], cells);
      fill(seen, std::span(logits_).subspan(i * static_cast<std::size_t>(options_.vocab_size),
                                            static_cast<std::size_t>(options_.vocab_size)));
    }
    read_features(batch, cells);
    return {.logits = logits_, .features = features_, .vocab_size = options_.vocab_size};
  }

  // The hidden state [2] of a path at a layer, as an oracle would give it: a hash, the layer's id.
  std::vector<float> feature_of(std::span<const std::int32_t> path, std::int32_t layer) const {
    std::vector<FakeKv::Cell> cells;
    for (std::size_t i = 0; i < path.size(); ++i)
      cells.push_back({path[i], static_cast<std::int32_t>(i), is_long(path.size())});
    return {static_cast<float>(state_of(cells) >> 40), static_cast<float>(layer)};
  }

  std::function<void(int layer)> on_layer;  // called before each layer's stop check
  std::int64_t forwards = 0, forward_rows = 0;
  const FakeKv* kv = nullptr;  // made last; lives as long as its run

 private:
  static bool is_mask(const ForwardBatch& batch, std::size_t row) {
    return row + static_cast<std::size_t>(batch.masks.rows) >= batch.tokens.size();
  }
  bool is_long(std::size_t length) const {
    return options_.kv_valid_until > 0 &&
           length > static_cast<std::size_t>(options_.kv_valid_until);
  }
  // What a row sees, in path order, itself last; throws where that is not one path.
  std::vector<FakeKv::Cell> seen_by(const ForwardBatch& batch, std::int32_t row,
                                    const std::vector<FakeKv::Cell>& cells) const {
    const auto bad = [](const std::string& what) {
      throw Error(ErrorCode::kInvalidArgument, "fake model: " + what);
    };
    const auto r = static_cast<std::size_t>(row);
    std::vector<std::int32_t> list(batch.prefix_slots.begin(), batch.prefix_slots.end());
    if (batch.own_offsets.empty()) {
      list.insert(list.end(), batch.slots.begin(),
                  batch.slots.begin() + static_cast<std::ptrdiff_t>(r) + 1);
    } else {
      list.insert(list.end(), batch.own_slots.begin() + batch.own_offsets[r],
                  batch.own_slots.begin() + batch.own_offsets[r + 1]);
    }
    if (list.empty() || list.back() != batch.slots[r]) bad("a row does not see itself last");
    std::vector<FakeKv::Cell> seen;
    for (const auto slot : list) seen.push_back(cells.at(static_cast<std::size_t>(slot)));
    const std::int32_t first = batch.positions[r] + 1 - static_cast<std::int32_t>(seen.size());
    if (first > std::max(0, info_.kv_window > 0 ? batch.positions[r] + 1 - info_.kv_window : 0))
      bad("row " + std::to_string(r) + " sees nothing before position " + std::to_string(first));
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (seen[k].token < 0 || seen[k].position != first + static_cast<std::int32_t>(k))
        bad("row " + std::to_string(r) + " sees slot " + std::to_string(list[k]) + " at place " +
            std::to_string(k) + " of its path, which holds position " +
            std::to_string(seen[k].position));
    if (seen.back().position != batch.positions[r])
      bad("a row's position is not its place in its path");
    for (const FakeKv::Cell& cell : seen)
      if (cell.token >= kFakeMask && !is_mask(batch, r)) bad("a row of the text sees a mask");
    for (std::size_t i = 0; is_mask(batch, r) && i < batch.masks.prefix_slots.size(); ++i)
      if (cells.at(static_cast<std::size_t>(batch.masks.prefix_slots[i])).token !=
          kFakePrefix - static_cast<std::int32_t>(i))
        bad("a mask sees a slot that does not hold its prefix");
    for (const FakeKv::Cell& cell : seen)
      if (cell.of_long_text != seen.back().of_long_text)
        bad("a row sees KV of texts shorter and longer than kv_valid_until");
    return seen;
  }
  void read_features(const ForwardBatch& batch, const std::vector<FakeKv::Cell>& cells) {
    features_.clear();
    for (const std::int32_t layer : batch.feature_layers)
      for (const std::int32_t row : batch.feature_rows) {
        features_.push_back(static_cast<float>(state_of(seen_by(batch, row, cells)) >> 40));
        features_.push_back(static_cast<float>(layer));
      }
  }
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

  std::uint64_t state_of(std::span<const FakeKv::Cell> seen) const {
    if (options_.sliding_window > 0 &&
        seen.size() > static_cast<std::size_t>(options_.sliding_window))
      seen = seen.last(static_cast<std::size_t>(options_.sliding_window));
    std::uint64_t state = mix(options_.seed + seen.back().of_long_text);
    for (const auto& cell : seen)
      state = mix(state ^ (static_cast<std::uint64_t>(cell.token) << 32) ^
                  static_cast<std::uint64_t>(cell.position));
    return state;
  }

  void fill(std::span<const FakeKv::Cell> seen, std::span<float> row) const {
    const std::uint64_t state = state_of(seen) ^ layers_key_;
    for (std::size_t v = 0; v < row.size(); ++v) {
      const double unit = static_cast<double>(mix(state ^ mix(v)) >> 11) * 0x1.0p-53;
      float logit = options_.spread * static_cast<float>(2 * unit - 1);
      if (options_.quantum > 0)
        logit = static_cast<float>(static_cast<int>(logit * static_cast<float>(options_.quantum))) /
                static_cast<float>(options_.quantum);
      row[v] = logit;
    }
    for (const auto eos : options_.eos_token_ids)
      row[static_cast<std::size_t>(eos)] += options_.eos_boost;
    // A mask likes what the chain would have come to by then.
    std::size_t masks = 0;
    while (masks < seen.size() && seen[seen.size() - 1 - masks].token >= kFakeMask) ++masks;
    if (masks == seen.size()) return;
    std::int32_t liked = seen[seen.size() - 1 - masks].token;
    for (std::size_t step = 0; step <= masks; ++step) liked = after_in_chain(liked);
    if (liked >= 0) row[static_cast<std::size_t>(liked)] += 20;
  }

  std::int32_t after_in_chain(std::int32_t token) const {
    for (std::size_t i = 0; i + 1 < options_.chain.size(); ++i)
      if (options_.chain[i] == token) return options_.chain[i + 1];
    return -1;
  }

  FakeOptions options_;
  ModelInfo info_;
  std::uint64_t layers_key_ = 0;  // of the newest forward
  std::vector<float> logits_, features_;
};

// Token i is spelled "<i> "; text is not encoded.
class FakeTokenizer : public Tokenizer {
 public:
  explicit FakeTokenizer(int vocab_size = 32, std::vector<std::int32_t> eos = {0})
      : eos_(std::move(eos)) {
    for (int i = 0; i < vocab_size; ++i) pieces_.push_back("<" + std::to_string(i) + "> ");
  }
  // What decode() writes, and nothing else: "<5> <6> ".
  std::vector<std::int32_t> encode(std::string_view text, bool) const override {
    std::vector<std::int32_t> ids;
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1))
      ids.push_back(std::stoi(std::string(text.substr(at + 1, 9))));
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override {
    std::string text;
    for (const auto id : ids)
      if (!skip_special_tokens || !is_special(id)) text += pieces_.at(static_cast<std::size_t>(id));
    return text;
  }
  std::string_view piece(std::int32_t id) const override {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  int vocab_size() const override { return static_cast<int>(pieces_.size()); }
  bool is_special(std::int32_t id) const override {
    return std::find(eos_.begin(), eos_.end(), id) != eos_.end();
  }
  std::int32_t bos_token_id() const override { return -1; }
  const std::vector<std::int32_t>& eos_token_ids() const override { return eos_; }
  std::string description() const override { return "fake"; }
  bool has_chat_template() const override { return false; }
  std::string apply_chat_template(const Conversation&, bool) const override {
    throw Error(ErrorCode::kNotSupported, "fake tokenizer: no chat template");
  }

 private:
  std::vector<std::int32_t> eos_;
  std::vector<std::string> pieces_;
};

}  // namespace triescope::test

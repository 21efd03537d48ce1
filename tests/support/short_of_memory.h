// Models, heads and recorders that are refused memory now and then, in place of the real ones: before
// a forward, or after it has written its K and V; before KV grows or moves; before a row of logits
// on a device comes to the host; before rows are taken for recording.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/capture/recorder.h"
#include "core/model/heads/draft_head.h"
#include "core/model/model.h"

namespace triescope::test {

// Called before memory is used, with what for: "begin" and "end" of a forward, "grow", "move",
// "fetch", "run heads", "record". Refuses by an Error.
using AskMemory = std::function<void(const std::string& what)>;

inline void refuse_memory(const std::string& what) {
  throw Error(ErrorCode::kOutOfMemory, "no memory to " + what);
}

// Refuses every other time or so, until `most` were refused.
struct Refusals {
  explicit Refusals(std::uint64_t seed, int most_refusals) : rng(seed), most(most_refusals) {}
  AskMemory ask() {
    return [this](const std::string& what) {
      if (refused >= most || rng.uniform() < 0.5) return;
      ++refused;
      refuse_memory(what);
    };
  }
  Rng rng;
  int most, refused = 0;
};

class ShortKv final : public KvStorage {
 public:
  ShortKv(std::unique_ptr<KvStorage> inside, AskMemory ask)
      : inner(std::move(inside)), ask_(std::move(ask)) {}
  int capacity() const override { return inner->capacity(); }
  std::int64_t bytes_per_slot() const override { return inner->bytes_per_slot(); }
  void reserve(int capacity) override {
    ask_("grow");
    inner->reserve(capacity);
  }
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override {
    ask_("move");
    inner->move(from, to);
  }
  void write(std::span<const std::int32_t> slots, std::span<const float> keys,
             std::span<const float> values) override {
    inner->write(slots, keys, values);
  }
  const std::unique_ptr<KvStorage> inner;

 private:
  AskMemory ask_;
};

class ShortModel final : public Model, public DeviceLogits {
 public:
  ShortModel(std::unique_ptr<Model> inside, AskMemory ask)
      : inner(std::move(inside)), ask_(std::move(ask)) {}
  const ModelInfo& info() const override { return inner->info(); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<ShortKv>(inner->make_kv(capacity), ask_);
  }
  std::unique_ptr<KvStorage> make_kv_of(int capacity,
                                        std::span<const std::int32_t> layers) override {
    return std::make_unique<ShortKv>(inner->make_kv_of(capacity, layers), ask_);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    ask_("begin");
    ForwardOutput output =
        inner->forward(batch, *dynamic_cast<ShortKv&>(kv).inner, std::move(stop));
    ask_("end");
    rows_ = output.on_device;
    if (rows_ != nullptr) output.on_device = this;
    return output;
  }
  void embed(std::span<const std::int32_t> tokens, std::span<float> out) override {
    inner->embed(tokens, out);
  }
  std::span<const float> output_head(std::span<const float> states) override {
    return inner->output_head(states);
  }

  std::size_t vocab_size() const override { return rows_->vocab_size(); }
  float log_sum_exp(int row) const override { return rows_->log_sum_exp(row); }
  std::span<const std::pair<float, std::int32_t>> best(int row) const override {
    return rows_->best(row);
  }
  float logit(int row, std::int32_t token) override {
    ask_("fetch");
    return rows_->logit(row, token);
  }
  std::span<const float> whole(int row) override {
    ask_("fetch");
    return rows_->whole(row);
  }

  const std::unique_ptr<Model> inner;

 private:
  AskMemory ask_;
  DeviceLogits* rows_ = nullptr;  // of the last forward
};

class ShortHeads final : public TokenHeads {
 public:
  ShortHeads(std::unique_ptr<TokenHeads> inside, AskMemory ask)
      : inner_(std::move(inside)), ask_(std::move(ask)) {}
  int count() const override { return inner_->count(); }
  bool reads_tokens() const override { return inner_->reads_tokens(); }
  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t> tokens) override {
    ask_("run heads");
    return inner_->logits(head, state, tokens);
  }

 private:
  std::unique_ptr<TokenHeads> inner_;
  AskMemory ask_;
};

class ShortRecorder final : public capture::Recorder {
 public:
  ShortRecorder(capture::Recorder& inner, AskMemory ask) : inner_(inner), ask_(std::move(ask)) {}
  capture::Level level() const override { return inner_.level(); }
  void write(const capture::RowTables& rows) override {
    ask_("record");
    inner_.write(rows);
  }
  void flush() override { inner_.flush(); }

 private:
  capture::Recorder& inner_;
  AskMemory ask_;
};

}  // namespace triescope::test

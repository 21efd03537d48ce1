// What tests/gpu/steps.py times: forwards and beam search of core on one model, as C functions.
//
//   model = ts_open(path, device, dtype)      null: ts_error() says why
//   ts_prefill(model, tokens)                 a prompt into a KV of its own; the steps' prefix
//   ts_step(model, rows)                      a forward of `rows` tokens that follow the prompt
//   ts_beams(model, beams, prompt, new)       beam search as Session runs it, without a capture
//
// Times are seconds until the logits are on the host; -1: ts_error() says why. Weights and tokens
// may be random: no figure depends on what the text says. Not thread-safe.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/count_up.h"
#include "core/base/timing.h"
#include "core/capture/recorder.h"
#include "core/model/model.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"

namespace {

using triescope::count_up;
using triescope::ForwardBatch;

constexpr int kMostRows = 64;

struct Steps {
  std::unique_ptr<triescope::Model> model;
  std::unique_ptr<triescope::KvStorage> kv;
  std::vector<std::int32_t> prompt;  // slots and positions of the prompt: 0, 1, ...
};

std::string last_error;

// What `work` returns; on an exception `otherwise`, with its text in last_error.
template <typename T, typename Work>
T guarded(T otherwise, Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    last_error = error.what();
    return otherwise;
  }
}

std::vector<std::int32_t> some_tokens(std::size_t count, int vocab_size) {
  std::vector<std::int32_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<std::int32_t>((i * 7919 + 13) % static_cast<std::size_t>(vocab_size));
  return tokens;
}

void prefill(Steps& steps, int count) {
  const int vocab = steps.model->info().vocab_size;
  steps.kv.reset();
  steps.kv = steps.model->make_kv(count + kMostRows);
  steps.prompt = count_up(static_cast<std::size_t>(count));
  const std::vector<std::int32_t> tokens = some_tokens(steps.prompt.size(), vocab);
  const auto most = static_cast<std::size_t>(steps.model->info().prefill_rows);
  for (const auto [at, rows] : triescope::pieces_of(steps.prompt.size(), most)) {
    const std::span<const std::int32_t> all(steps.prompt);
    const std::int32_t last = static_cast<std::int32_t>(rows) - 1;
    ForwardBatch batch;
    batch.tokens = std::span(tokens).subspan(at, rows);
    batch.positions = batch.slots = all.subspan(at, rows);
    batch.prefix_slots = all.first(at);
    batch.text_length = count;
    if (at + rows == steps.prompt.size()) batch.logit_rows = {&last, 1};
    steps.model->forward(batch, *steps.kv);
  }
}

// Rows that all hang below the prompt's last token, each in a slot of its own.
void step(Steps& steps, int rows) {
  const auto count = static_cast<std::size_t>(rows);
  const auto position = static_cast<std::int32_t>(steps.prompt.size());
  const std::vector<std::int32_t> tokens = some_tokens(count, steps.model->info().vocab_size);
  const std::vector<std::int32_t> positions(count, position);
  const std::vector<std::int32_t> slots = count_up(count, position), offsets = count_up(count + 1),
                                  logit_rows = count_up(count);
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = positions;
  batch.slots = batch.own_slots = slots;
  batch.own_offsets = offsets;
  batch.prefix_slots = steps.prompt;
  batch.logit_rows = logit_rows;
  steps.model->forward(batch, *steps.kv);
}

}  // namespace

extern "C" {

const char* ts_error() { return last_error.c_str(); }

Steps* ts_open(const char* path, const char* device, const char* dtype) {
  return guarded<Steps*>(nullptr, [&] {
    auto steps = std::make_unique<Steps>();
    triescope::LoadOptions options;
    options.device = device;
    options.dtype = triescope::dtype_from_string(dtype);
    steps->model = triescope::load_model(path, options);
    return steps.release();
  });
}

void ts_close(Steps* steps) { delete steps; }

// Of the device's allocator, bytes; -1: it does not tell.
std::int64_t ts_allocated(Steps* steps) { return steps->model->device_memory().allocated_bytes; }

// What the model says on loading, such as which kernels gave way to libtorch's operations; "".
const char* ts_warning(Steps* steps) { return steps->model->info().warning.c_str(); }

double ts_prefill(Steps* steps, int tokens) {
  return guarded(-1.0, [&] { return triescope::seconds([&] { prefill(*steps, tokens); }); });
}

double ts_step(Steps* steps, int rows) {
  return guarded(-1.0, [&] {
    if (steps->prompt.empty() || rows < 1 || rows > kMostRows)
      throw std::invalid_argument("expected ts_prefill() first and 1 to " +
                                  std::to_string(kMostRows) + " rows, found " +
                                  std::to_string(rows));
    return triescope::seconds([&] { step(*steps, rows); });
  });
}

double ts_beams(Steps* steps, int beams, int prompt, int new_tokens) {
  return guarded(-1.0, [&] {
    const int vocab = steps->model->info().vocab_size;
    steps->kv.reset();
    steps->prompt.clear();
    triescope::RunConfig config;
    config.method = "beam";
    config.settings = {{"num_beams", beams},
                       {"num_return_sequences", beams},
                       {"early_stopping", "never"},
                       {"eos_token_id", {-1}}};
    config.prompt_tokens = some_tokens(static_cast<std::size_t>(prompt), vocab);
    config.max_new_tokens = new_tokens;
    const triescope::test::FakeTokenizer tokenizer(vocab, {});
    triescope::capture::NullRecorder recorder;
    triescope::Session session(*steps->model, tokenizer, config, recorder);
    return triescope::seconds([&] { session.run(); });
  });
}

}  // extern "C"

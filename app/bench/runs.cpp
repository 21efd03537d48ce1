#include "app/bench/runs.h"

#include <algorithm>

#include "app/session/request.h"
#include "core/base/count_up.h"

namespace triescope::app {

double ms_since(BenchClock::time_point start) {
  return std::chrono::duration<double, std::milli>(BenchClock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

RunResult run_recorded(Model& model, const Tokenizer& tokenizer, RunConfig config,
                       capture::Recorder& recorder) {
  Session session(model, tokenizer, std::move(config), recorder);
  session.run();
  return session.result();
}

RunResult run_once(Model& model, const Tokenizer& tokenizer, RunConfig config) {
  capture::NullRecorder recorder;
  return run_recorded(model, tokenizer, std::move(config), recorder);
}

std::vector<std::int32_t> bench_tokens(const Tokenizer& tokenizer, const BenchPrompt& prompt,
                                       int max_tokens) {
  RunRequest request;
  request.prompt = prompt.text;
  request.chat = tokenizer.has_chat_template();
  std::vector<std::int32_t> tokens = make_run_config(request, tokenizer).prompt_tokens;
  if (static_cast<int>(tokens.size()) > max_tokens) {
    const auto half = static_cast<std::ptrdiff_t>(max_tokens / 2);
    tokens.erase(tokens.begin() + half, tokens.end() - (max_tokens - half));
  }
  return tokens;
}

std::vector<std::int32_t> spread_tokens(int count, int vocabulary) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * 7919 + 13) % vocabulary);
  return tokens;
}

std::vector<float> prefill(Model& model, KvStorage& kv, std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> slots) {
  const auto last = static_cast<std::int32_t>(tokens.size()) - 1;
  ForwardBatch batch;
  batch.tokens = tokens;
  batch.positions = slots;
  batch.slots = slots;
  batch.logit_rows = {&last, 1};
  batch.text_length = last + 1;
  const std::span<const float> logits = model.forward(batch, kv).logits;
  return {logits.begin(), logits.end()};
}

std::vector<float> logits_after(Model& model, std::span<const std::int32_t> tokens) {
  const auto slots = count_up(tokens.size());
  return prefill(model, *model.make_kv(static_cast<std::int32_t>(tokens.size())), tokens, slots);
}

bool same_tokens(const RunResult& a, const RunResult& b) {
  return std::equal(
      a.sequences.begin(), a.sequences.end(), b.sequences.begin(), b.sequences.end(),
      [](const ReturnedSequence& x, const ReturnedSequence& y) { return x.tokens == y.tokens; });
}

}  // namespace triescope::app

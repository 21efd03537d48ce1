// Runs a session on the fake model, with a line of set-up.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/model/heads/draft_head.h"
#include "core/session/session.h"
#include "tests/support/fake_model.h"
#include "tests/support/memory_recorder.h"

namespace triescope::test {

struct Rig {
  explicit Rig(FakeOptions options = {}, capture::Level level = capture::Level::kFull)
      : model(options), tokenizer(options.vocab_size, options.eos_token_ids), recorder(level) {}

  // For methods that need a draft model. Its vocabulary may be of another length.
  void draft_with(FakeOptions options) {
    draft_model = std::make_unique<FakeModel>(options);
    draft_tokenizer = std::make_unique<FakeTokenizer>(options.vocab_size, options.eos_token_ids);
  }

  Session& start(const std::string& method, nlohmann::json settings,
                 std::vector<std::int32_t> prompt = {5, 6, 7}, int max_new_tokens = 12,
                 std::uint64_t seed = 1) {
    RunConfig config;
    config.method = method;
    config.settings = std::move(settings);
    config.prompt_tokens = std::move(prompt);
    config.max_new_tokens = max_new_tokens;
    config.seed = seed;
    config.draft = {draft_model.get(), draft_tokenizer.get(), draft_head.get()};
    session = std::make_unique<Session>(model, tokenizer, std::move(config), recorder);
    return *session;
  }

  FakeModel model;
  FakeTokenizer tokenizer;
  MemoryRecorder recorder;
  std::unique_ptr<FakeModel> draft_model;
  std::unique_ptr<FakeTokenizer> draft_tokenizer;
  std::unique_ptr<DraftHead> draft_head;  // for methods that need one
  std::unique_ptr<Session> session;
};

inline std::vector<std::vector<std::int32_t>> tokens_of(const RunResult& result) {
  std::vector<std::vector<std::int32_t>> all;
  for (const auto& sequence : result.sequences) all.push_back(sequence.tokens);
  return all;
}

inline std::vector<double> scores_of(const RunResult& result) {
  std::vector<double> all;
  for (const auto& sequence : result.sequences) all.push_back(sequence.score);
  return all;
}

}  // namespace triescope::test

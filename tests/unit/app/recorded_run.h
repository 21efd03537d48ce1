// Records runs of every method over made-up models, for tests that look figures up in the rows.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/capture/writer.h"
#include "core/methods/registry.h"
#include "core/session/session.h"
#include "tests/support/fake_head.h"
#include "tests/support/paths.h"
#include "tests/support/session_run.h"

namespace triescope::test {

using namespace capture;
using nlohmann::json;

struct Recorded {
  std::string method;
  json settings = json::object();
  FakeOptions model = {};
  std::vector<std::int32_t> prompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};
  int max_new_tokens = 12;
  Level level = Level::kFull;
  int steps = -1;  // stops after these; -1 = never
};

// Records a run. "" where the method refuses the settings. `result` takes the run's own summary, if
// given.
inline std::string record(const Recorded& what, const TempDir& dir, RunResult* result = nullptr) {
  const std::string path = dir.path() / "run.tscap";
  FakeModel model(what.model);
  FakeTokenizer tokenizer(what.model.vocab_size, what.model.eos_token_ids);
  const MethodInfo& method = find_method(what.method);
  std::unique_ptr<FakeModel> draft;
  std::unique_ptr<DraftHead> head;
  RunConfig config;
  config.method = what.method;
  config.settings = what.settings;
  config.prompt_tokens = what.prompt;
  config.max_new_tokens = what.max_new_tokens;
  config.seed = 3;
  if (method.needs == Need::kDraftModel) {
    FakeOptions options = what.model;
    options.seed += 4;
    draft = std::make_unique<FakeModel>(options);
    config.draft = {draft.get(), &tokenizer, nullptr};
  }
  if (method.needs == Need::kDraftHead) {
    head = fake_head(method.heads.front(), what.model.vocab_size, what.model.context,
                     what.model.seed + 4, what.model.chain);
    config.draft = {nullptr, nullptr, head.get()};
  }
  const auto recorder = open_recorder(path, {.level = what.level});
  std::unique_ptr<Session> session;
  try {
    session = std::make_unique<Session>(model, tokenizer, std::move(config), *recorder);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCorruption || error.code() == ErrorCode::kIoError) throw;
    return "";
  }
  for (int i = 0; !session->done() && i != what.steps; ++i) session->step();
  if (!session->done()) {
    session->request_stop();
    session->advance();
  }
  if (result) *result = session->result();
  return path;
}

inline FakeOptions chained() {
  FakeOptions options;
  options.vocab_size = 14;
  options.eos_token_ids = {};
  options.chain = {5, 6, 7, 8, 9, 5};
  return options;
}

inline json settings_of(const MethodInfo& method, json given) {
  json settings = json::object();
  for (const Parameter& parameter : method.parameters)
    if (given.contains(parameter.name)) settings[parameter.name] = given[parameter.name];
  settings["candidates"] = 4;
  return settings;
}

}  // namespace triescope::test

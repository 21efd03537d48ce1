// The tiny models of parity_goldens.json (every family, weights made of a hash) and what
// transformers generated with them; made by make_parity_goldens.py.
//
// TRIESCOPE_PARITY=FILE: another file of that form, such as the whole product of
// `make_parity_goldens.py --whole`. TRIESCOPE_TEST_DEVICE=cuda: on that device.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/capture/recorder.h"
#include "core/model/model.h"
#include "core/session/session.h"
#include "tests/golden/golden_share.h"
#include "tests/support/device.h"
#include "tests/support/fake_model.h"
#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {

using ParityTokens = std::vector<std::int32_t>;

inline const nlohmann::json& parity_file() {
  static const nlohmann::json file = [] {
    const auto ours = source_dir() / "tests" / "golden" / "parity_goldens.json";
    std::ifstream stream(environment("TRIESCOPE_PARITY", ours.string()));
    return nlohmann::json::parse(stream);
  }();
  return file;
}

inline std::unique_ptr<Model> load_parity_model(const nlohmann::json& entry,
                                                DType dtype = DType::kF32) {
  const TempDir folder;
  write_golden_model(entry, folder.path());
  LoadOptions options;
  options.device = test_device();
  options.dtype = dtype;
  options.threads = 1;  // a row is too short to share
  auto model = load_model(folder.path().string(), options);
  // On a GPU our kernels are tried: none may have given way to libtorch's operations.
  if (options.device != "cpu" && !model->info().warning.empty())
    throw std::runtime_error("expected a model without a warning, found: " + model->info().warning);
  return model;
}

// "AZa BB": sequences, a letter a token; or lists of ids.
inline std::vector<ParityTokens> parity_sequences(const nlohmann::json& run) {
  if (run["tokens"].is_array()) return run["tokens"].get<std::vector<ParityTokens>>();
  const auto alphabet = parity_file()["alphabet"].get<std::string>();
  std::vector<ParityTokens> all;
  std::istringstream words(run["tokens"].get<std::string>());
  for (std::string word; words >> word;) {
    ParityTokens& tokens = all.emplace_back();
    for (const char letter : word)
      tokens.push_back(static_cast<std::int32_t>(alphabet.find(letter)));
  }
  return all;
}

inline ParityTokens parity_prompt(const nlohmann::json& entry, const nlohmann::json& which) {
  return entry["prompts"][which.get<std::size_t>()].get<ParityTokens>();
}

inline int parity_max_new_tokens(const nlohmann::json& entry) {
  return (entry.contains("max_new_tokens") ? entry : parity_file())["max_new_tokens"];
}

// Logits after a prompt.
inline std::vector<float> first_logits(Model& model, const ParityTokens& prompt) {
  const auto kv = model.make_kv(static_cast<int>(prompt.size()));
  const std::vector<float> rows = all_logits(model, *kv, prompt);
  return {rows.end() - model.info().vocab_size, rows.end()};
}

// Of the logits after the third prompt (40 tokens) to transformers'.
inline double first_logits_difference(Model& model, const nlohmann::json& entry) {
  return max_difference(first_logits(model, parity_prompt(entry, 2)),
                        entry["logits"].get<std::vector<float>>());
}

// A run of the file, decoded by `method` (beam, batch_beam, greedy).
inline RunResult parity_decode(Model& model, const nlohmann::json& entry, const nlohmann::json& run,
                               const std::string& method, const std::string& kv,
                               capture::Recorder& recorder) {
  RunConfig config;
  config.method = method;
  config.settings = {{"eos_token_id", entry["eos"][run["eos"].get<std::size_t>()]}, {"kv", kv}};
  if (method != "greedy") {
    config.settings["num_beams"] = config.settings["num_return_sequences"] = run["beams"];
    config.settings["early_stopping"] = run["stop"];
    config.settings["length_penalty"] = run["lp"];
  }
  if (kv == "compact") config.settings["gc_every"] = 3;
  if (run.contains("processors")) config.settings.update(run["processors"]);
  config.prompt_tokens = parity_prompt(entry, run["prompt"]);
  config.max_new_tokens = parity_max_new_tokens(entry);
  const FakeTokenizer tokenizer(model.info().vocab_size, {});
  Session session(model, tokenizer, config, recorder);
  session.run();
  return session.result();
}

inline RunResult parity_decode(Model& model, const nlohmann::json& entry, const nlohmann::json& run,
                               const std::string& method = "beam",
                               const std::string& kv = "recycle") {
  capture::NullRecorder recorder;
  return parity_decode(model, entry, run, method, kv, recorder);
}

}  // namespace triescope::test

// RunRequest: everything a person can choose about a run, in the window's run bar and on the
// command line alike, and how it becomes a RunConfig.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/decode/session.h"
#include "core/tokenizer/tokenizer.h"

namespace triescope::app {

struct RunRequest {
  std::string model;        // path or short name; "" = the default
  std::string draft_model;  // likewise, for methods that need one; "" = none
  std::string device = "cpu";
  DType dtype = DType::kF32;
  std::string method = "beam";
  nlohmann::json settings = nlohmann::json::object();
  std::string prompt;
  std::vector<std::int32_t> prompt_ids;  // used instead of the text where not empty
  bool chat = false;                     // apply the model's chat template
  int max_new_tokens = 128;
  std::uint64_t seed = 0;
};

// Refuses what can be refused before a model is loaded: an unknown method, settings it does not
// take, a draft model that it needs and that is not named or not there.
void check_request(const RunRequest& request);

// The settings that a model comes with, as typed values.
nlohmann::json settings_json(const GenerationSettings& generation);
// What the model comes with (generation_config.json) and this request leaves open: parameters that
// its method has and its settings do not name. {name: value}.
nlohmann::json open_model_settings(const RunRequest& request, const ModelInfo& model);
// Takes them. Error{kNotSupported} where the model asks for what no method does,
// {kInvalidArgument} where it asks for a value that the method refuses.
void take_model_settings(RunRequest& request, const ModelInfo& model);
// What a person is told where a model comes with settings that a request leaves open: "" = none.
// `remedy`: how to take them.
std::string model_settings_note(const RunRequest& request, const ModelInfo& model,
                                const std::string& remedy);

// Tokenizes the prompt (chat template where asked for; BOS where the tokenizer adds one).
// Errors: those of Tokenizer::encode and apply_chat_template; kInvalidArgument for an empty prompt.
RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer);

}  // namespace triescope::app

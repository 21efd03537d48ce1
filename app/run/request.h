// RunRequest: everything a person can choose about a run, in the window's run bar and on the
// command line alike, and how it becomes a RunConfig.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/capture/records.h"
#include "core/decode/session.h"
#include "core/tokenizer/tokenizer.h"

namespace triescope::app {

struct RunRequest {
  std::string model;        // path or short name; "" = the default
  std::string draft_model;  // the same, or a draft head, for methods that need one; "" = none
  std::string device = "cpu";
  std::string draft_device;  // of a draft model; "" = the model's
  DType dtype = DType::kF32;
  std::optional<DType> kv_dtype = {};  // not given: as dtype
  std::string method = "beam";
  nlohmann::json settings = nlohmann::json::object();
  std::string prompt;
  std::vector<std::int32_t> prompt_ids;  // used instead of `prompt` where not empty
  bool prompt_is_ids = false;            // `prompt` holds token ids, "1, 2, 3"
  bool chat = false;                     // apply the model's chat template
  int max_new_tokens = 128;
  std::uint64_t seed = 0;
};

// max_new_tokens as the parameter that it is: command line and window allow the same.
const Parameter& new_tokens_parameter();

// Both decode the same with whatever model: method, settings, prompt, limit and seed are the same.
bool same_decoding(const RunRequest& a, const RunRequest& b);

// Refuses what can be refused before a model is loaded: an unknown method, settings it does not
// take, a draft model or head that it needs and that is not named or not there.
void check_request(const RunRequest& request);

// The settings that a model comes with, as typed values.
nlohmann::json settings_json(const GenerationSettings& generation);
// What the model comes with (generation_config.json) and this request leaves open: parameters that
// its method has and its settings do not name. {name: value}.
nlohmann::json open_model_settings(const RunRequest& request, const ModelInfo& model);
// Takes them. Error{kNotSupported} where the model asks for what no method does,
// {kInvalidArgument} where it asks for a value that the method refuses.
void take_model_settings(RunRequest& request, const ModelInfo& model);
// A note on the settings that a model comes with and a request leaves open; "" = none. `remedy`:
// how to take them.
std::string model_settings_note(const RunRequest& request, const ModelInfo& model,
                                const std::string& remedy);

// "1,2, 3" -> ids. Error{kInvalidArgument}: says which entry is not a number.
std::vector<std::int32_t> parse_ids(const std::string& text);
std::string text_of_ids(const std::vector<std::int32_t>& ids);  // "1, 2, 3"

// The request that a capture's run was started with, so that it can be run again: model, device, dtype,
// draft, method, the settings that are not defaults, prompt, limit and seed. The prompt is the
// recorded text where `tokenizer` splits it as it was split (null: taken on trust), its ids otherwise,
// as after a chat template. Error{kNotFound, kInvalidArgument}: a method this program does not have.
RunRequest request_of_run(const capture::RunInfo& run, const Tokenizer* tokenizer);

// The request as a window means it: where the tokenizer takes no text, what stands in the prompt
// field is read as token ids.
RunRequest as_read_by(const Tokenizer& tokenizer, RunRequest request);

// Tokenizes the prompt (chat template where asked for; BOS where the tokenizer adds one); to ids
// nothing is added. Errors: those of parse_ids, Tokenizer::encode and apply_chat_template;
// kInvalidArgument for an empty prompt, an id outside the vocabulary, and ids with a chat template.
RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer);

}  // namespace triescope::app

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
  // With `chat`: the system prompt ("" = what the template does by itself), and what was said before
  // `prompt`, oldest first. Without, neither is looked at.
  std::string system = {};
  std::vector<ChatMessage> turns = {};
  int max_new_tokens = 128;
  std::uint64_t seed = 0;
};

// max_new_tokens as the parameter that it is: command line and window allow the same.
const Parameter& new_tokens_parameter();

// With `chat`, what the model's template renders: system prompt, turns, and `prompt` as the user's.
std::vector<ChatMessage> conversation_of(const RunRequest& request);
// The other way: the request asks for this conversation with the chat template. `source`: for the
// message. Error{kInvalidArgument}: the last message is not the user's.
void take_conversation(RunRequest& request, std::vector<ChatMessage> messages,
                       const std::string& source);
// A conversation in a file (conversation.h). Errors: kNotFound, kCorruption (not JSON),
// kInvalidArgument.
std::vector<ChatMessage> read_messages_file(const std::string& path);

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
// recorded conversation or text where `tokenizer` makes the same ids of it (null: taken on trust), else
// those ids: a template may write today's date. Error{kNotFound, kInvalidArgument}: a method this program does not have.
RunRequest request_of_run(const capture::RunInfo& run, const Tokenizer* tokenizer);

// The request as a window means it: where the tokenizer takes no text, what stands in the prompt
// field is read as token ids.
RunRequest as_read_by(const Tokenizer& tokenizer, RunRequest request);

// Tokenizes the prompt (chat template where asked for; BOS where the tokenizer adds one); to ids
// nothing is added. Errors: those of parse_ids, Tokenizer::encode and apply_chat_template;
// kNotSupported where a chat template leaves the system prompt out;
// kInvalidArgument for an empty prompt, an id outside the vocabulary, and ids with a chat template.
RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer);

}  // namespace triescope::app

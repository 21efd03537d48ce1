// RunRequest: everything that a person can choose about a run, in the window's run bar and on the
// command line alike, and how it becomes a RunConfig.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/capture/records.h"
#include "core/session/session.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

struct RunRequest {
  std::string model;        // path or short name; "" = the default
  std::string draft_model;  // the same, or a draft head, for methods that need it; "" = none
  std::string device = "cpu";
  std::string draft_device;  // for a draft model; "" = the model's device
  DType dtype = DType::kF32;
  std::optional<DType> kv_dtype = {};  // not given: as dtype
  std::string method = "beam";
  nlohmann::json settings = nlohmann::json::object();
  std::string prompt;
  std::vector<std::int32_t> prompt_ids;  // used instead of `prompt` where not empty
  bool prompt_is_ids = false;            // `prompt` holds token ids, "1, 2, 3"
  bool chat = false;                     // apply the model's chat template
  // With `chat`: the system prompt ("" = the template's own default), and the turns before
  // `prompt`, oldest first. Without `chat` both are ignored.
  std::string system = {};
  std::vector<ChatMessage> turns = {};
  // With `chat` too: the tools that the template is told of, a JSON list ("" = none), and a
  // template in place of the model's with the file it comes from ("" = the model's).
  std::string tools = {};
  std::string chat_template = {}, chat_template_file = {};
  int max_new_tokens = 128;
  std::uint64_t seed = 0;
};

// max_new_tokens as a parameter, so that command line and window allow the same values.
const Parameter& new_tokens_parameter();

// With `chat`, the conversation that the template renders: system prompt, turns, and `prompt` as
// the user's. Where the last turn is a tool's and the prompt is empty, the model answers the tool.
Conversation conversation_of(const RunRequest& request);
// Whether the request has a text or ids for the model, or a tool's answer.
bool has_prompt(const RunRequest& request);
// The inverse of conversation_of: makes the request ask for this conversation with the chat
// template. Tools and a template that the conversation does not have stay as they are. `source` is
// for the message. Error{kInvalidArgument}: the last message is not the user's or a tool's.
void take_conversation(RunRequest& request, Conversation conversation, const std::string& source);
// Read a conversation, or tools, from a file (conversation.h). Errors: kNotFound, kCorruption (not
// JSON), kInvalidArgument.
Conversation read_messages_file(const std::string& path);
std::string read_tools_file(const std::string& path);
// Whether a JSON file has "tools" and no "messages".
bool holds_tools_alone(const std::string& path);
// Makes the request use a template from a file. Errors: kNotFound; kInvalidArgument: an empty file.
void take_chat_template(RunRequest& request, const std::string& path);

// Whether both decode the same with whatever model: method, settings, prompt, limit and seed are
// equal.
bool same_decoding(const RunRequest& a, const RunRequest& b);

// Refuses what can be refused before a model is loaded: an unknown method, settings that it does
// not take, a draft model or head that it needs and that is not named or does not exist.
void check_request(const RunRequest& request);

// The settings that a model comes with, as typed values.
nlohmann::json settings_json(const GenerationSettings& generation);
// The settings that come with the model (generation_config.json) and that this request leaves open:
// parameters that its method has and its settings do not name, as {name: value}.
nlohmann::json open_model_settings(const RunRequest& request, const ModelInfo& model);
// Takes over those settings. Error{kNotSupported}: the model asks for something that no method
// does; {kInvalidArgument}: it asks for a value that the method refuses.
void take_model_settings(RunRequest& request, const ModelInfo& model);
// A note on the settings that come with a model and that a request leaves open; "" = none.
// `remedy`: how to take them over.
std::string model_settings_note(const RunRequest& request, const ModelInfo& model,
                                const std::string& remedy);

// "1,2, 3" -> ids. Error{kInvalidArgument}: says which entry is not a number.
std::vector<std::int32_t> parse_ids(const std::string& text);
std::string text_of_ids(const std::vector<std::int32_t>& ids);  // "1, 2, 3"

// The request with which a capture's run was started, so that it can be run again: model, device,
// dtype, draft, method, the settings that are not defaults, prompt, limit and seed. The prompt is
// the recorded conversation or text if `tokenizer` turns it into the same ids (null: this is
// assumed), else those ids, because a template may write today's date. Error{kNotFound,
// kInvalidArgument}: this program does not have the method.
RunRequest request_of_run(const capture::RunInfo& run, const Tokenizer* tokenizer);

// The request as a window means it: if the tokenizer takes no text, the content of the prompt field
// is read as token ids.
RunRequest as_read_by(const Tokenizer& tokenizer, RunRequest request);

// Tokenizes the prompt (with the chat template if requested, and with BOS if the tokenizer adds
// one); nothing is added to ids. Errors: those of parse_ids, Tokenizer::encode and
// apply_chat_template; kNotSupported: a chat template leaves the system prompt out;
// kInvalidArgument: an empty prompt, an id outside the vocabulary, ids with a chat template.
RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer);

}  // namespace triescope::app

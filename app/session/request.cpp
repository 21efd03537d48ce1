#include "app/session/request.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "app/session/catalog.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/text_file.h"
#include "core/base/trimmed.h"
#include "core/capture/run_fields.h"
#include "core/files/json.h"
#include "core/methods/registry.h"
#include "core/model/cuda_driver.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::app {

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// "name = value, name = value"
std::string text_of(const nlohmann::json& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings.items())
    parts.push_back(name + " = " + json_text(value));
  return joined(parts);
}

// A model that cannot be read has none; loading it tells what is wrong.
bool has_default_draft(const MethodInfo& method, const std::string& model) {
  try {
    return !default_draft(method, resolve_model(model)).empty();
  } catch (const Error&) {
    return false;
  }
}

// Whether the device exists is found out when it is opened.
void check_draft_device(const std::string& device) {
  if (!device.empty() && device != "cpu" && !cuda_index(device))
    throw Error(ErrorCode::kInvalidArgument,
                "--draft-device: expected cpu, cuda or cuda:N, found '" + device + "'");
}

}  // namespace

bool same_decoding(const RunRequest& a, const RunRequest& b) {
  return a.method == b.method && a.settings == b.settings && a.prompt == b.prompt &&
         a.prompt_is_ids == b.prompt_is_ids && a.chat == b.chat &&
         (!a.chat || (a.system == b.system && a.turns == b.turns && a.tools == b.tools &&
                      a.chat_template == b.chat_template)) &&
         a.max_new_tokens == b.max_new_tokens && a.seed == b.seed;
}

const Parameter& new_tokens_parameter() {
  static const Parameter parameter =
      integer("max_new_tokens", "New Tokens", RunRequest{}.max_new_tokens, 1, 1 << 20,
              "The run ends after this many generated tokens, unless a text ends earlier.");
  return parameter;
}

void check_request(const RunRequest& request) {
  read_setting(new_tokens_parameter(), request.max_new_tokens);
  const MethodInfo& method = find_method(request.method);
  validate_settings(method, request.settings);
  if (!method.takes_draft_model() && !method.takes_draft_head()) return;
  check_draft_device(request.draft_device);
  if (!request.draft_model.empty()) {
    resolve_draft(request.draft_model);
  } else if (method.needs != Need::kNothing && !has_default_draft(method, request.model)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "method " + method.name + ": expected a " +
            (method.needs_draft_head()
                 ? "draft head, trained for the model; found none. Name one with --draft PATH"
                 : std::string("draft model, a smaller one") +
                       (method.any_vocabulary ? "" : " with the same vocabulary") +
                       "; found none. Name one with --draft MODEL") +
            ", or in the run bar");
  }
}

nlohmann::json settings_json(const GenerationSettings& generation) {
  nlohmann::json settings = nlohmann::json::object();
  for (const auto& [name, value] : generation.settings) {
    nlohmann::json typed = json_or_discarded(value);
    settings[name] = typed.is_discarded() ? nlohmann::json(value) : std::move(typed);
  }
  return settings;
}

nlohmann::json open_model_settings(const RunRequest& request, const ModelInfo& model) {
  nlohmann::json open = nlohmann::json::object();
  const nlohmann::json wanted = settings_json(model.generation);
  for (const Parameter& parameter : find_method(request.method).parameters)
    if (wanted.contains(parameter.name) && !request.settings.contains(parameter.name))
      open[parameter.name] = wanted[parameter.name];
  return open;
}

void take_model_settings(RunRequest& request, const ModelInfo& model) {
  const std::string file = model.path + ": generation_config.json asks for ";
  if (!model.generation.not_done.empty())
    throw Error(ErrorCode::kNotSupported, file + joined(model.generation.not_done) +
                                              ", which triescope does not support; give the "
                                              "settings you want one by one");
  const nlohmann::json open = open_model_settings(request, model);
  nlohmann::json settings = request.settings;
  settings.update(open);
  try {
    validate_settings(find_method(request.method), settings);
  } catch (const Error& error) {
    throw Error(error.code(), file + text_of(open) + ": " + error.what());
  }
  request.settings = std::move(settings);
}

std::string model_settings_note(const RunRequest& request, const ModelInfo& model,
                                const std::string& remedy) {
  const nlohmann::json open = open_model_settings(request, model);
  if (open.empty()) return "";
  std::string note = "the model's generation_config.json asks for " + text_of(open) + "; " + remedy;
  if (!model.generation.not_done.empty())
    note += "; it also asks for " + joined(model.generation.not_done) +
            ", which triescope does not support";
  return note;
}

std::vector<std::int32_t> parse_ids(const std::string& text) {
  std::vector<std::int32_t> ids;
  std::stringstream stream(text);
  std::string entry;
  while (std::getline(stream, entry, ',')) {
    const std::string_view digits = trimmed(entry, " \t\n");
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
      throw Error(ErrorCode::kInvalidArgument,
                  "token ids: expected numbers separated by commas, found '" + std::string(digits) +
                      "' as entry " + std::to_string(ids.size() + 1));
    ids.push_back(id);
  }
  return ids;
}

std::string text_of_ids(const std::vector<std::int32_t>& ids) {
  std::vector<std::string> texts;
  for (const std::int32_t id : ids) texts.push_back(std::to_string(id));
  return joined(texts);
}

RunRequest request_of_run(const capture::RunInfo& run, const Tokenizer* tokenizer) {
  const capture::RunFields model(run.model_json), draft = model.part("draft");
  RunRequest request;
  // A file that is missing here, as in another machine's run, may be known by its name.
  const auto found_or_name = [](const std::string& path, const auto& resolve) {
    std::error_code ec;
    std::string name = std::filesystem::path(path).filename().string();
    if (name.empty() || std::filesystem::exists(path, ec)) return path;
    try {
      resolve(name);
      return name;
    } catch (const Error&) {
      return path;
    }
  };
  request.model = found_or_name(model.text("path"), resolve_model);
  request.device = model.text("device", request.device);
  if (model.has("dtype")) request.dtype = dtype_from_string(model.text("dtype"));
  if (!draft.empty()) {
    request.draft_model = found_or_name(
        draft.text("path"), [](const std::string& name) { return resolve_draft(name); });
    if (const std::string device = draft.text("device", request.device); device != request.device)
      request.draft_device = device;
  }
  const MethodInfo& method = find_method(run.method);
  request.method = method.name;
  const nlohmann::json defaults = validate_settings(method, nlohmann::json::object());
  const auto settings = json_or_discarded(run.settings_json);
  for (const auto& [name, value] : settings.items())
    if (defaults.contains(name) && defaults.at(name) != value) request.settings[name] = value;
  request.max_new_tokens = run.max_new_tokens;
  request.seed = static_cast<std::uint64_t>(run.seed);
  request.prompt = run.prompt_text;
  try {
    if (!run.conversation_json.empty())
      take_conversation(
          request,
          read_conversation(formats::parse_ordered_json(run.conversation_json, "the capture"),
                            "the capture"),
          "the capture");
    if (tokenizer == nullptr) return request;
    if (tokenizer->encodes_text() &&
        make_run_config(request, *tokenizer).prompt_tokens == run.prompt_tokens)
      return request;
  } catch (const Error&) {
    // This tokenizer does not accept the conversation or text, so its ids are used.
  }
  request.chat = false;
  request.system.clear();
  request.turns.clear();
  request.tools.clear();
  request.chat_template.clear();
  request.prompt = text_of_ids(run.prompt_tokens);
  request.prompt_is_ids = true;
  return request;
}

RunRequest as_read_by(const Tokenizer& tokenizer, RunRequest request) {
  request.prompt_is_ids = request.prompt_is_ids || !tokenizer.encodes_text();
  return request;
}

namespace {

std::vector<std::int32_t> prompt_ids_of(const RunRequest& request, const Tokenizer& tokenizer) {
  if (!request.prompt_ids.empty()) return request.prompt_ids;
  try {
    return parse_ids(request.prompt);
  } catch (const Error& error) {
    if (tokenizer.encodes_text()) throw;
    throw Error(error.code(),
                std::string("the model has no tokenizer, so its prompt is a list of token ids; ") +
                    error.what());
  }
}

// True if the template makes the same prompt of this conversation: it leaves out what this one lacks.
bool renders_prompt(const Conversation& rest, const RunConfig& config, const Tokenizer& tokenizer) {
  try {
    return tokenizer.apply_chat_template(rest, /*add_generation_prompt=*/true) ==
           config.prompt_text;
  } catch (const Error&) {
    return false;  // the template asks for what it lacks
  }
}

// A template without a system role may silently drop the system prompt: the run would not be the
// requested one.
void check_system_prompt(const RunRequest& request, const RunConfig& config,
                         const Tokenizer& tokenizer) {
  if (request.system.empty()) return;
  Conversation rest = config.conversation;
  rest.messages.erase(rest.messages.begin());
  if (renders_prompt(rest, config, tokenizer))
    throw Error(ErrorCode::kNotSupported,
                "the chat template leaves the system prompt out: leave it empty, or put it "
                "into the prompt");
}

// The same of tools.
void check_tools(const RunConfig& config, const Tokenizer& tokenizer) {
  if (config.conversation.tools.empty()) return;
  Conversation rest = config.conversation;
  rest.tools.clear();
  if (renders_prompt(rest, config, tokenizer))
    throw Error(ErrorCode::kNotSupported,
                "the chat template leaves the tools out: give none, or a template that names them "
                "(--chat-template FILE)");
}

// The same of the tools that an earlier turn called.
void check_calls(const RunConfig& config, const Tokenizer& tokenizer) {
  Conversation rest = config.conversation;
  bool calls = false;
  for (ChatMessage& message : rest.messages) calls = take_out_calls(message) || calls;
  if (calls && renders_prompt(rest, config, tokenizer))
    throw Error(
        ErrorCode::kNotSupported,
        "the chat template leaves the calls of tools out: write them into the text of their "
        "turns, or give a template that names tool_calls (--chat-template FILE)");
}

}  // namespace

RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer) {
  RunConfig config;
  config.method = request.method;
  config.settings = request.settings;
  config.max_new_tokens = request.max_new_tokens;
  config.seed = request.seed;
  if (!request.prompt_ids.empty() || request.prompt_is_ids) {
    if (request.chat)
      throw Error(ErrorCode::kInvalidArgument,
                  "the prompt is given as token ids, and a chat template works on text: leave the "
                  "chat template out, or give a text");
    config.prompt_tokens = prompt_ids_of(request, tokenizer);
    if (config.prompt_tokens.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "the prompt is empty: expected at least one token id, such as 1, 2, 3");
    for (const std::int32_t id : config.prompt_tokens) {
      if (id >= 0 && id < tokenizer.vocab_size()) continue;
      throw Error(ErrorCode::kInvalidArgument, "prompt id " + std::to_string(id) +
                                                   " is outside the vocabulary: expected 0 to " +
                                                   std::to_string(tokenizer.vocab_size() - 1));
    }
    config.prompt_text = tokenizer.decode(config.prompt_tokens);
    return config;
  }
  config.prompt_text = request.prompt;
  if (request.chat) {
    config.conversation = conversation_of(request);
    config.prompt_text =
        tokenizer.apply_chat_template(config.conversation, /*add_generation_prompt=*/true);
    check_system_prompt(request, config, tokenizer);
    check_tools(config, tokenizer);
    check_calls(config, tokenizer);
    // The template has already written the special tokens.
    config.prompt_tokens = tokenizer.encode(config.prompt_text, /*add_special_tokens=*/false);
  } else {
    config.prompt_tokens = tokenizer.encode(request.prompt);
  }
  if (config.prompt_tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "the prompt is empty: expected at least one token (this model's tokenizer adds "
                "none); give --prompt some text");
  return config;
}

}  // namespace triescope::app

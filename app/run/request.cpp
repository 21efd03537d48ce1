#include "app/run/request.h"

#include "app/run/catalog.h"
#include "core/base/error.h"
#include "core/methods/registry.h"

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
    parts.push_back(name + " = " + (value.is_string() ? value.get<std::string>() : value.dump()));
  return joined(parts);
}

}  // namespace

void check_request(const RunRequest& request) {
  const MethodInfo& method = find_method(request.method);
  validate_settings(method, request.settings);
  if (!method.needs_draft_model()) return;
  if (request.draft_model.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "method " + method.name +
                    ": expected a draft model, a smaller one with the same vocabulary; found none. "
                    "Name one with --draft MODEL, or in the run bar");
  resolve_model(request.draft_model);
}

nlohmann::json settings_json(const GenerationSettings& generation) {
  nlohmann::json settings = nlohmann::json::object();
  for (const auto& [name, value] : generation.settings) {
    nlohmann::json typed = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
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
                                              ", which is not done; give the settings you want "
                                              "one by one");
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
    note += "; it also asks for " + joined(model.generation.not_done) + ", which is not done";
  return note;
}

RunConfig make_run_config(const RunRequest& request, const Tokenizer& tokenizer) {
  RunConfig config;
  config.method = request.method;
  config.settings = request.settings;
  config.max_new_tokens = request.max_new_tokens;
  config.seed = request.seed;
  if (!request.prompt_ids.empty()) {
    config.prompt_tokens = request.prompt_ids;
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
    const ChatMessage message{"user", request.prompt};
    config.prompt_text =
        tokenizer.apply_chat_template({&message, 1}, /*add_generation_prompt=*/true);
    // The template writes the special tokens itself.
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

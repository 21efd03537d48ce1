#include <charconv>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <utility>

#include "app/cli/commands.h"
#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/session/model_json.h"
#include "core/text/tokenizer/id_tokenizer.h"
#include "viz/export/file_ending.h"

namespace triescope::app {

namespace {

// A seed is taken as it is written: -1 and a number beyond 64 bits are other seeds than they seem.
CLI::Validator seed_number() {
  const auto check = [](std::string& text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const char *const begin = text.data() + (hex ? 2 : 0), *const end = text.data() + text.size();
    std::uint64_t seed = 0;
    const auto [last, error] = std::from_chars(begin, end, seed, hex ? 16 : 10);
    return error == std::errc() && last == end
               ? std::string()
               : "expected a whole number from 0 to 18446744073709551615, found '" + text + "'";
  };
  return {check, ""};
}

}  // namespace

CLI::Validator file_name() {
  const auto check = [](std::string& name) {
    return name.empty() ? std::string("expected a file's name, found an empty text") : "";
  };
  return {check, ""};
}

CLI::Validator number_within(double least, double most) {
  const std::string range = CLI::detail::to_string(least) + " to " + CLI::detail::to_string(most);
  const auto check = [least, most, range](std::string& text) {
    double number = 0;
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
    return fits ? std::string() : "expected a number from " + range + "; found " + text;
  };
  return {check, "from " + range};
}

std::pair<float, float> parse_size(const std::string& text) {
  int width = 0, height = 0, used = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) == 2 &&
      used == static_cast<int>(text.size()) && width >= 64 && height >= 64 && width <= 32768 &&
      height <= 32768)
    return {static_cast<float>(width), static_cast<float>(height)};
  throw Error(ErrorCode::kInvalidArgument,
              "--size: expected WIDTHxHEIGHT with both from 64 to 32768, found '" + text + "'");
}

viz::ExportOptions picture_options(const std::string& path, const std::string& size,
                                   const std::string& format) {
  viz::ExportOptions picture;
  picture.format =
      format.empty() ? viz::format_of_path(path) : viz::export_format_from_string(format);
  if (!size.empty()) std::tie(picture.width_px, picture.height_px) = parse_size(size);
  return picture;
}

nlohmann::json model_details(const ModelInfo& info) {
  nlohmann::json model = model_json(info);
  model.update({{"block_parameters", info.block_parameters},
                {"block_bytes", info.block_bytes},
                {"widened_parameters", info.widened_parameters},
                {"widened_bytes", info.widened_bytes},
                {"file_bytes", info.file_bytes},
                {"intermediate", info.intermediate},
                {"tied_embeddings", info.tied_embeddings},
                {"rope_theta", info.rope_theta},
                {"tokenizer", has_tokenizer(info.path) ? info.tokenizer : "no tokenizer"},
                {"bos_token_id", info.bos_token_id},
                {"notes", info.notes},
                {"generation_settings", settings_json(info.generation)},
                {"generation_not_done", info.generation.not_done}});
  return model;
}

void RunOptions::add_to(CLI::App& command) {
  command.add_option("--model", request.model,
                     "Hugging Face directory, .gguf file, or a short name (`info --list`)");
  command.add_option("--method", request.method, "decoding method (`triescope methods`)")
      ->capture_default_str();
  auto* text = command.add_option("--prompt", request.prompt, "prompt text");
  auto* file = command.add_option("--prompt-file", prompt_file, "read the prompt from a file")
                   ->check(file_name());
  auto* ids = command.add_option("--prompt-ids", prompt_ids,
                                 "prompt as token ids 1,2,3; nothing is added to them");
  auto* messages =
      command
          .add_option("--messages", messages_file,
                      "a conversation in place of the prompt, with the chat template: a JSON file "
                      "with [{\"role\": \"user\", \"content\": \"…\"}, …]")
          ->check(file_name());
  text->excludes(file)->excludes(ids)->excludes(messages);
  file->excludes(ids)->excludes(messages);
  ids->excludes(messages);
  command.add_flag("--chat", request.chat, "apply the model's chat template to the prompt");
  auto* system = command.add_option("--system", request.system,
                                    "system prompt, with --chat; empty = what the template does");
  auto* system_from =
      command.add_option("--system-file", system_file, "read the system prompt from a file")
          ->check(file_name());
  system->excludes(system_from)->excludes(messages);
  system_from->excludes(messages);
  command
      .add_option("--chat-template", template_file,
                  "a chat template (Jinja) from a file, in place of the model's; with --chat or "
                  "--messages")
      ->check(file_name());
  command
      .add_option(
          "--tools", tools_file,
          "a JSON file with a list of tools, which the chat template is told of; with --chat "
          "or --messages")
      ->check(file_name());
  command.add_option("--max-new-tokens", request.max_new_tokens, "tokens to generate at most")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--seed", request.seed, "seed of everything random")
      ->check(seed_number())
      ->capture_default_str();
  command.add_option("--device", request.device, "cpu, cuda, cuda:1")->capture_default_str();
  command.add_option("--dtype", dtype, "f32, bf16, f16 (default: f32 on a CPU, bf16 on a GPU)");
  command.add_option("--kv-dtype", kv_dtype, "of keys and values: f32, bf16 (default: as --dtype)");
  command.add_option("--set", settings, "a parameter of the method: name=value (repeatable)")
      ->allow_extra_args(false);
  command.add_flag("--model-settings", model_settings,
                   "begin with what the model's generation_config.json asks for, as transformers "
                   "does; --set has the last word");
  command.add_option(
      "--draft", request.draft_model,
      "what drafts beside the model, for methods that need it: a draft model (a smaller "
      "one with the same vocabulary, named as --model is) or a draft head trained for "
      "it (a folder or file); what it is, is detected");
  command.add_option("--draft-device", request.draft_device,
                     "of a draft model: cpu, cuda, cuda:1 (default: as --device)");
}

RunRequest RunOptions::resolve() const {
  RunRequest result = request;
  result.dtype = dtype.empty() ? default_dtype(result.device) : dtype_from_string(dtype);
  if (!kv_dtype.empty()) result.kv_dtype = dtype_from_string(kv_dtype);
  if (!prompt_file.empty()) result.prompt = read_text_file(prompt_file, "a text file");
  if (!system_file.empty()) result.system = read_text_file(system_file, "a text file");
  if (!messages_file.empty())
    take_conversation(result, read_messages_file(messages_file), messages_file);
  if (!result.system.empty() && !result.chat)
    throw Error(ErrorCode::kInvalidArgument,
                std::string(system_file.empty() ? "--system" : "--system-file") +
                    ": a system prompt is part of a chat, and there is no chat template: expected "
                    "--chat beside it");
  for (const auto& [name, file] :
       {std::pair("--chat-template", &template_file), {"--tools", &tools_file}})
    if (!file->empty() && !result.chat)
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(name) +
                      ": it is part of a chat, and there is none: expected --chat or --messages "
                      "beside it");
  if (!template_file.empty()) take_chat_template(result, template_file);
  if (!tools_file.empty()) {
    if (!result.tools.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "--tools: " + messages_file + " has tools too: expected them in one place");
    result.tools = read_tools_file(tools_file);
  }
  if (!prompt_ids.empty()) result.prompt_ids = parse_ids(prompt_ids);
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::kInvalidArgument,
                  "--set: expected name=value, found '" + setting + "'");
    const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
    if (const auto [given, is_new] = result.settings.emplace(name, value);
        !is_new && given.value() != value)
      throw Error(ErrorCode::kInvalidArgument,
                  "--set: " + name + " is given twice: " + given.value().get<std::string>() +
                      " and " + value);
  }
  if (model_settings) take_model_settings(result, inspect_model(resolve_model(result.model)));
  return result;
}

}  // namespace triescope::app

// `triescope tokenize`: ids and pieces of a text, and back.
#include <iostream>

#include "app/cli/commands.h"
#include "app/session/catalog.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/text_file.h"

namespace triescope::app {
namespace {

struct TokenizeOptions {
  std::string model, text, file, ids;
  bool as_json = false, no_special = false;
};

int run_tokenize(const TokenizeOptions& options) {
  using nlohmann::json;
  const auto tokenizer = load_tokenizer(resolve_model(options.model));
  if (!options.ids.empty()) {
    const std::vector<std::int32_t> ids = parse_ids(options.ids);
    const std::string text = tokenizer->decode(ids);
    if (options.as_json) {
      std::cout << dump_json(json{{"ids", ids}, {"text", text}}) << "\n";
    } else {
      std::cout << text << "\n";
    }
    return 0;
  }
  const std::string text =
      options.file.empty() ? options.text : read_text_file(options.file, "a text file");
  const std::vector<std::int32_t> ids = tokenizer->encode(text, !options.no_special);
  if (options.as_json) {
    json pieces = json::array();
    for (const std::int32_t id : ids) pieces.push_back(std::string(tokenizer->piece(id)));
    std::cout << dump_json(json{{"ids", ids}, {"pieces", pieces}}) << "\n";
    return 0;
  }
  for (const std::int32_t id : ids) {
    // A JSON string makes spaces, newlines and broken UTF-8 visible.
    std::cout << id << "\t" << dump_json(json(std::string(tokenizer->piece(id)))) << "\n";
  }
  return 0;
}

}  // namespace

void add_tokenize_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = root.add_subcommand(
      "tokenize", "ids and pieces of a text, with what the model's tokenizer adds");
  command->add_option("--model", options->model,
                      "Hugging Face directory, .gguf file, or a short name");
  auto* text = command->add_option("TEXT", options->text, "the text");
  auto* file =
      command->add_option("--file", options->file, "read the text from a file")->check(file_name());
  auto* decode = command->add_option("--decode", options->ids, "the other way: ids 1,2,3 to text");
  command->add_flag("--no-special", options->no_special, "add no special tokens");
  command->add_flag("--json", options->as_json, "as JSON: {\"ids\": [], \"pieces\": []}");
  command->callback([=, &line] {
    if (text->count() + file->count() + decode->count() != 1)
      throw CLI::ValidationError("tokenize",
                                 "expected exactly one of TEXT, --file F and --decode IDS");
    line.action = [options] { return run_tokenize(*options); };
  });
}

}  // namespace triescope::app

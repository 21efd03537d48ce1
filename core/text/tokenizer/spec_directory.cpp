// TokenizerSpec from a Hugging Face folder: tokenizer.json, GPT-2's vocab.json and merges.txt, or
// SentencePiece's tokenizer.model, with the files beside them.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/files/input_file.h"
#include "core/files/json.h"
#include "core/text/tokenizer/folder_tokens.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxTemplateBytes = 4u << 20;

// The default template of a chat_template entry, which is a text, or several by name.
std::string default_template(const json& chat) {
  if (chat.is_string()) return chat.get<std::string>();
  std::string found;
  if (chat.is_object()) found = chat.value("default", "");
  if (chat.is_array())
    for (const json& named : chat)
      if (named.is_object() && named.value("name", "") == "default")
        found = named.value("template", "");
  return found;
}

void read_chat_template(const fs::path& folder, const FolderFile& config, TokenizerSpec& spec) {
  spec.chat_template_source = folder.string();
  if (exists(folder, "chat_template.jinja")) {
    spec.chat_template_source = formats::path_in_folder(folder.string(), "chat_template.jinja");
    spec.chat_template = formats::InputFile(spec.chat_template_source).text(kMaxTemplateBytes);
  } else if (config.content.contains("chat_template")) {
    spec.chat_template_source = config.path;
    spec.chat_template = default_template(config.content["chat_template"]);
  }
}

std::int32_t id_of_name(const TokenizerSpec& spec, std::string_view name) {
  for (const auto& [there, text] : spec.special_texts)
    if (there == name) return token_id(spec, text);
  return -1;
}

// Reads the tokens that end a text: the model's, else the tokenizer's.
void read_eos(const fs::path& folder, const FolderFile& model, TokenizerSpec& spec) {
  spec.eos_ids.clear();
  // A token for which the model has no row can never occur.
  const json& rows = model.content.contains("vocab_size") ? model.content["vocab_size"] : json();
  if (const std::int32_t eos = id_of_name(spec, "eos_token");
      eos >= 0 && !(rows.is_number_integer() && eos >= rows.get<std::int64_t>()))
    spec.eos_ids.push_back(eos);
  const FolderFile generation(folder, "generation_config.json");
  for (const FolderFile* file : {&generation, &model}) {
    if (!file->content.contains("eos_token_id")) continue;
    const json& eos = file->content["eos_token_id"];
    if (eos.is_null()) continue;
    spec.eos_ids.clear();
    for (const json& id : eos.is_array() ? eos : json::array({eos}))
      if (id.is_number_integer()) spec.eos_ids.push_back(id.get<std::int32_t>());
    break;
  }
}

// Reads GPT-2's own pair of files, or Qwen 2's.
TokenizerSpec spec_from_vocab_and_merges(const fs::path& folder, TokenizerClass made_by) {
  TokenizerSpec spec;
  spec.source = formats::path_in_folder(folder.string(), "vocab.json");
  json model = {{"type", "BPE"},
                {"vocab", formats::read_json_file(spec.source, kMaxTokenizerBytes)},
                {"merges", json::array()}};
  std::istringstream file(formats::InputFile(formats::path_in_folder(folder.string(), "merges.txt"))
                              .text(kMaxTokenizerBytes));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.rfind("#version", 0) == 0) continue;
    model["merges"].push_back(line);
  }
  read_model((folder / "merges.txt").string(), model, spec);
  using Kind = PreTokenizerStep::Kind;
  PreTokenizerStep bytes;
  bytes.kind = Kind::kByteLevel;
  if (made_by == TokenizerClass::kQwen2) {
    spec.normalizer.push_back({NormalizerStep::Kind::kNfc, "", ""});
    PreTokenizerStep words;
    words.pattern = kQwen2Regex;
    spec.pre_tokenizer.push_back(words);
    bytes.use_regex = false;
  }
  spec.pre_tokenizer.push_back(bytes);
  DecoderStep decoder;
  decoder.kind = DecoderStep::Kind::kByteLevel;
  spec.decoder.push_back(decoder);
  spec.byte_level = true;
  return spec;
}

// Reads tokenizer.model, and what transformers' LlamaTokenizer reads about spaces beside it.
TokenizerSpec spec_from_sentencepiece_folder(const std::string& path, const FolderFile& config) {
  TokenizerSpec spec =
      spec_from_sentencepiece_file(formats::path_in_folder(path, "tokenizer.model"));
  SentencePieceSpaces& spaces = spec.normalizer.front().spaces;
  spaces.every_section = config.says("legacy");
  if (config.content.contains("add_prefix_space") && !config.says("add_prefix_space")) {
    spaces.dummy_prefix = false;
    if (!spaces.remove_extra && spec.decoder.back().kind == DecoderStep::Kind::kStrip)
      spec.decoder.pop_back();
  }
  return spec;
}

}  // namespace

TokenizerSpec spec_from_directory(const std::string& path) try {
  const fs::path folder(path);
  const bool tokenizer_json = exists(folder, "tokenizer.json");
  const bool pair = exists(folder, "vocab.json") && exists(folder, "merges.txt");
  const bool sentencepiece = !tokenizer_json && !pair && exists(folder, "tokenizer.model");
  if (!tokenizer_json && !pair && !sentencepiece)
    throw Error(ErrorCode::kNotFound,
                path +
                    ": no tokenizer in this folder; expected tokenizer.json, vocab.json with "
                    "merges.txt, or tokenizer.model");
  const FolderFile config(folder, "tokenizer_config.json"), model(folder, "config.json");
  TokenizerClass made_by = tokenizer_class(config, model);
  if (pair && !tokenizer_json && made_by == TokenizerClass::kAny) made_by = TokenizerClass::kGpt2;
  TokenizerSpec spec = tokenizer_json
                           ? spec_from_json_file(formats::path_in_folder(path, "tokenizer.json"))
                       : sentencepiece ? spec_from_sentencepiece_folder(path, config)
                                       : spec_from_vocab_and_merges(folder, made_by);
  try {
    read_folder_tokens(folder, config, made_by, tokenizer_json, spec);
    read_chat_template(folder, config, spec);
  } catch (const json::exception& error) {
    corrupt(config.path, std::string("a field is missing or of the wrong type: ") + error.what());
  }
  spec.bos_id = id_of_name(spec, "bos_token");
  read_eos(folder, model, spec);
  spec.description = (sentencepiece ? "SentencePiece " : "") + model_name(spec) + ", " +
                     (tokenizer_json                      ? "tokenizer.json"
                      : sentencepiece                     ? "tokenizer.model"
                      : made_by == TokenizerClass::kQwen2 ? "qwen2"
                                                          : "gpt-2") +
                     ", " + std::to_string(spec.vocab.size()) + " tokens";
  return spec;
} catch (const json::exception& error) {
  corrupt(path, std::string("a field is missing or of the wrong type: ") + error.what());
}

}  // namespace triescope::tokenizer

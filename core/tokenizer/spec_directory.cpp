// TokenizerSpec from a Hugging Face folder: tokenizer.json, or GPT-2's vocab.json and merges.txt,
// with the files beside them.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/formats/input_file.h"
#include "core/formats/json.h"
#include "core/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxTemplateBytes = 4u << 20;

bool exists(const fs::path& folder, const char* name) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::exists(folder / name, ignored);
}

std::int32_t id_of(const TokenizerSpec& spec, const std::string& text) {
  for (const AddedToken& token : spec.added)
    if (token.content == text) return token.id;
  const auto found = std::find(spec.vocab.begin(), spec.vocab.end(), text);
  return found == spec.vocab.end() || text.empty()
             ? -1
             : static_cast<std::int32_t>(found - spec.vocab.begin());
}

// "<s>" or {"content": "<s>"}.
std::string token_text(const json& config, const char* key) {
  if (!config.contains(key)) return "";
  const json& value = config[key];
  if (value.is_string()) return value.get<std::string>();
  return value.is_object() ? value.value("content", std::string()) : std::string();
}

// tokenizer_config.json, generation_config.json, chat_template.jinja of a directory.
void read_companions(const fs::path& folder, TokenizerSpec& spec) {
  const auto inside = [&](const char* name) {
    return formats::path_in_folder(folder.string(), name);
  };
  if (exists(folder, "tokenizer_config.json")) {
    const json config =
        formats::read_json_file(inside("tokenizer_config.json"), kMaxTokenizerBytes);
    spec.bos_text = token_text(config, "bos_token");
    spec.eos_text = token_text(config, "eos_token");
    spec.unk_text = token_text(config, "unk_token");
    spec.pad_text = token_text(config, "pad_token");
    if (config.contains("chat_template")) {
      const json& chat = config["chat_template"];
      if (chat.is_string()) {
        spec.chat_template = chat.get<std::string>();
      } else if (chat.is_array()) {
        for (const json& named : chat)
          if (named.is_object() && named.value("name", "") == "default")
            spec.chat_template = named.value("template", "");
      }
    }
  }
  if (exists(folder, "chat_template.jinja")) {
    spec.chat_template = formats::InputFile(inside("chat_template.jinja")).text(kMaxTemplateBytes);
  }
  spec.bos_id = id_of(spec, spec.bos_text);
  if (const std::int32_t eos = id_of(spec, spec.eos_text); eos >= 0) spec.eos_ids.push_back(eos);
  for (const char* name : {"generation_config.json", "config.json"}) {
    if (!exists(folder, name)) continue;
    const json config = formats::read_json_file(inside(name), kMaxTokenizerBytes);
    if (!config.contains("eos_token_id") || config["eos_token_id"].is_null()) continue;
    spec.eos_ids.clear();
    const json& eos = config["eos_token_id"];
    for (const json& id : eos.is_array() ? eos : json::array({eos}))
      if (id.is_number_integer()) spec.eos_ids.push_back(id.get<std::int32_t>());
    break;
  }
}

// GPT-2's own pair of files.
TokenizerSpec spec_from_vocab_and_merges(const fs::path& folder) {
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
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Kind::kByteLevel;
  spec.pre_tokenizer.push_back(step);
  DecoderStep decoder;
  decoder.kind = DecoderStep::Kind::kByteLevel;
  spec.decoder.push_back(decoder);
  spec.byte_level = true;
  if (const std::int32_t end = id_of(spec, "<|endoftext|>"); end >= 0) {
    spec.added.push_back({"<|endoftext|>", end, false, false, false, true, true, true});
    spec.bos_text = spec.eos_text = "<|endoftext|>";
  }
  read_companions(folder, spec);
  spec.description = "byte-level BPE, gpt-2, " + std::to_string(spec.vocab.size()) + " tokens";
  return spec;
}

}  // namespace

TokenizerSpec spec_from_directory(const std::string& path) try {
  const fs::path folder(path);
  if (exists(folder, "tokenizer.json")) {
    TokenizerSpec spec = spec_from_json_file(formats::path_in_folder(path, "tokenizer.json"));
    read_companions(folder, spec);
    return spec;
  }
  if (exists(folder, "vocab.json") && exists(folder, "merges.txt"))
    return spec_from_vocab_and_merges(folder);
  throw Error(
      ErrorCode::kNotFound,
      path +
          ": no tokenizer in this folder; expected tokenizer.json, or vocab.json with merges.txt");
} catch (const json::exception& error) {
  corrupt(path, std::string("a field is missing or of the wrong type: ") + error.what());
}

}  // namespace triescope::tokenizer

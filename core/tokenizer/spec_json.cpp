// TokenizerSpec from tokenizer.json and the files beside it.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unordered_map>

#include "core/base/error.h"
#include "core/formats/input_file.h"
#include "core/formats/json.h"
#include "core/tokenizer/regex.h"
#include "core/tokenizer/spec.h"

namespace triescope::tokenizer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 128u << 20;
constexpr std::uint64_t kMaxTemplateBytes = 4u << 20;
constexpr std::size_t kMaxVocab = 2'000'000;

bool exists(const fs::path& folder, const char* name) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::exists(folder / name, ignored);
}

[[noreturn]] void corrupt(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kCorruption, file + ": " + what);
}
[[noreturn]] void unsupported(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kNotSupported, file + ": " + what + " is not supported");
}

// A number that names an id or counts something.
std::int64_t integer_of(const std::string& file, const json& value, const std::string& what) {
  if (!value.is_number_integer())
    corrupt(file, what + ": expected an integer, found " + value.dump().substr(0, 80));
  // An unsigned one above 2^63 reads as negative, which every caller refuses.
  return value.get<std::int64_t>();
}

template <class Step>
void add_step(const std::string& file, const char* what, std::vector<Step>& steps, Step step) {
  if (steps.size() >= kMaxSteps)
    corrupt(file, std::string(what) + ": expected at most " + std::to_string(kMaxSteps) + " steps");
  steps.push_back(std::move(step));
}

std::string type_of(const json& part) {
  return part.is_object() ? part.value("type", std::string("?")) : std::string("?");
}

// {"String": text} or {"Regex": pattern}; says whether it is a regular expression.
std::string pattern_of(const std::string& file, const json& part, bool& is_regex) {
  const json& pattern = part.at("pattern");
  if (pattern.is_string()) return pattern.get<std::string>();
  if (pattern.contains("String")) return pattern["String"].get<std::string>();
  if (!pattern.contains("Regex")) unsupported(file, "the pattern " + pattern.dump().substr(0, 80));
  is_regex = true;
  return pattern["Regex"].get<std::string>();
}

void read_normalizer(const std::string& file, const json& part, TokenizerSpec& spec) {
  if (part.is_null()) return;
  using Kind = NormalizerStep::Kind;
  const std::string type = type_of(part);
  NormalizerStep step;
  if (type == "Sequence") {
    for (const json& inner : part.at("normalizers")) read_normalizer(file, inner, spec);
    return;
  }
  if (type == "Prepend") {
    step.kind = Kind::kPrepend;
    step.content = part.at("prepend").get<std::string>();
  } else if (type == "Replace") {
    bool is_regex = false;
    step.pattern = pattern_of(file, part, is_regex);
    step.kind = is_regex ? Kind::kReplaceRegex : Kind::kReplace;
    step.content = part.at("content").get<std::string>();
  } else if (type == "NFC") {
    step.kind = Kind::kNfc;
  } else if (type == "NFD") {
    step.kind = Kind::kNfd;
  } else if (type == "NFKC") {
    step.kind = Kind::kNfkc;
  } else if (type == "NFKD") {
    step.kind = Kind::kNfkd;
  } else if (type == "Lowercase") {
    step.kind = Kind::kLowercase;
  } else if (type == "Strip") {
    step.kind = Kind::kStrip;
    step.left = part.value("strip_left", true);
    step.right = part.value("strip_right", true);
  } else {
    unsupported(file, "the normalizer " + type);
  }
  add_step(file, "normalizer", spec.normalizer, step);
}

SplitBehavior behavior_of(const std::string& file, const std::string& name) {
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  unsupported(file, "the split behavior " + name);
}

// "always", "first", "never"; older files say add_prefix_space instead.
std::string prepend_scheme_of(const json& part) {
  if (part.contains("prepend_scheme")) return part["prepend_scheme"].get<std::string>();
  return part.value("add_prefix_space", true) ? "always" : "never";
}

void read_pre_tokenizer(const std::string& file, const json& part, TokenizerSpec& spec) {
  if (part.is_null()) return;
  using Kind = PreTokenizerStep::Kind;
  const std::string type = type_of(part);
  PreTokenizerStep step;
  if (type == "Sequence") {
    for (const json& inner : part.at("pretokenizers")) read_pre_tokenizer(file, inner, spec);
    return;
  }
  if (type == "ByteLevel") {
    step.kind = Kind::kByteLevel;
    step.add_prefix_space = part.value("add_prefix_space", true);
    step.use_regex = part.value("use_regex", true);
    spec.byte_level = true;
  } else if (type == "Split") {
    bool is_regex = false;
    step.kind = Kind::kSplit;
    step.pattern = pattern_of(file, part, is_regex);
    if (!is_regex) step.pattern = Regex::escape(step.pattern);
    step.behavior = behavior_of(file, part.at("behavior").get<std::string>());
    step.invert = part.value("invert", false);
  } else if (type == "Digits") {
    step.kind = Kind::kDigits;
    step.individual_digits = part.value("individual_digits", false);
  } else if (type == "Metaspace") {
    step.kind = Kind::kMetaspace;
    step.replacement = part.value("replacement", step.replacement);
    step.prepend_scheme = prepend_scheme_of(part);
    step.split = part.value("split", true);
  } else if (type == "Whitespace" || type == "WhitespaceSplit") {
    step.kind = Kind::kSplit;
    step.pattern = type == "Whitespace" ? "\\w+|[^\\w\\s]+" : "\\S+";
    step.behavior = SplitBehavior::kRemoved;
    step.invert = true;
  } else {
    unsupported(file, "the pre-tokenizer " + type);
  }
  add_step(file, "pre_tokenizer", spec.pre_tokenizer, step);
}

void read_decoder(const std::string& file, const json& part, TokenizerSpec& spec) {
  if (part.is_null()) return;
  using Kind = DecoderStep::Kind;
  const std::string type = type_of(part);
  DecoderStep step;
  if (type == "Sequence") {
    for (const json& inner : part.at("decoders")) read_decoder(file, inner, spec);
    return;
  }
  if (type == "Replace") {
    bool is_regex = false;
    step.kind = Kind::kReplace;
    step.pattern = pattern_of(file, part, is_regex);
    if (is_regex) unsupported(file, "a decoder that replaces a regular expression");
    step.content = part.at("content").get<std::string>();
  } else if (type == "ByteFallback") {
    step.kind = Kind::kByteFallback;
  } else if (type == "Fuse") {
    step.kind = Kind::kFuse;
  } else if (type == "Strip") {
    step.kind = Kind::kStrip;
    step.content = part.at("content").get<std::string>();
    for (const auto& [key, count] : {std::pair("start", &step.start), {"stop", &step.stop}}) {
      const std::int64_t value =
          integer_of(file, part.at(key), std::string("decoder: Strip: ") + key);
      if (value < 0 || value > 1 << 20)
        corrupt(file, std::string("decoder: Strip: ") + key + ": expected 0 to 2^20, found " +
                          std::to_string(value));
      *count = static_cast<int>(value);
    }
  } else if (type == "ByteLevel") {
    step.kind = Kind::kByteLevel;
    spec.byte_level = true;
  } else if (type == "Metaspace") {
    step.kind = Kind::kMetaspace;
    step.pattern = part.value("replacement", std::string("\xE2\x96\x81"));
    step.prepend_scheme = prepend_scheme_of(part);
  } else {
    unsupported(file, "the decoder " + type);
  }
  add_step(file, "decoder", spec.decoder, step);
}

void read_post_processor(const std::string& file, const json& part, TokenizerSpec& spec) {
  if (part.is_null()) return;
  const std::string type = type_of(part);
  if (type == "ByteLevel") return;  // offsets only
  if (type == "Sequence") {
    for (const json& inner : part.at("processors")) read_post_processor(file, inner, spec);
    return;
  }
  if (type != "TemplateProcessing") unsupported(file, "the post-processor " + type);
  bool after = false;
  for (const json& piece : part.at("single")) {
    if (piece.contains("Sequence")) {
      after = true;
      continue;
    }
    const std::string name = piece.at("SpecialToken").at("id").get<std::string>();
    const json& tokens = part.at("special_tokens");
    if (!tokens.contains(name))
      corrupt(file, "post_processor: names the special token " + name + " without saying its ids");
    for (const json& id : tokens[name].at("ids")) {
      const std::int64_t value = integer_of(file, id, "post_processor: ids of " + name);
      if (value < 0 || value >= static_cast<std::int64_t>(spec.vocab.size()))
        corrupt(file, "post_processor adds the id " + std::to_string(value) + ", expected 0 to " +
                          std::to_string(spec.vocab.size() - 1));
      (after ? spec.suffix_ids : spec.prefix_ids).push_back(static_cast<std::int32_t>(value));
    }
  }
}

// Ids may have holes, but nobody names 2 million ids for three tokens.
std::size_t highest_ids(std::size_t tokens) {
  constexpr std::size_t kHoles = 1 << 14;
  return std::min(kMaxVocab, 2 * tokens + kHoles);
}

void check_length(const std::string& file, const std::string& token) {
  if (token.size() > kMaxTokenBytes)
    corrupt(file, "expected tokens of at most " + std::to_string(kMaxTokenBytes) +
                      " bytes, found one of " + std::to_string(token.size()));
}

void read_model(const std::string& file, const json& model, TokenizerSpec& spec) {
  const std::string type = model.value("type", model.contains("merges") ? "BPE" : "?");
  if (type != "BPE") unsupported(file, "the tokenizer model " + type + " (only BPE is)");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (model.contains(key) && model[key].is_string() && !model[key].get<std::string>().empty())
      unsupported(file, std::string("a BPE ") + key);
  if (model.contains("dropout") && model["dropout"].is_number() &&
      model["dropout"].get<double>() != 0)
    unsupported(file, "BPE dropout");
  spec.byte_fallback = model.value("byte_fallback", false);
  spec.ignore_merges = model.value("ignore_merges", false);
  spec.fuse_unk = model.value("fuse_unk", false);
  const json& vocab = model.at("vocab");
  if (!vocab.is_object() || !model.at("merges").is_array())
    corrupt(file, "model: expected a \"vocab\" of tokens and ids and a list of \"merges\"");
  TokenIds ids;
  ids.reserve(vocab.size());
  const std::size_t id_end = highest_ids(vocab.size());
  for (const auto& [token, id_json] : vocab.items()) {
    if (!id_json.is_number_integer())
      corrupt(file, "vocab: the id of '" + token + "' is no number");
    const auto id = id_json.get<std::int64_t>();
    if (id < 0 || id >= static_cast<std::int64_t>(id_end))
      corrupt(file, "vocab: id " + std::to_string(id) + " of '" + token.substr(0, 80) +
                        "', expected 0 to " + std::to_string(id_end - 1) + " of " +
                        std::to_string(vocab.size()) + " tokens");
    check_length(file, token);
    if (spec.vocab.size() <= static_cast<std::size_t>(id))
      spec.vocab.resize(static_cast<std::size_t>(id) + 1);
    if (!spec.vocab[static_cast<std::size_t>(id)].empty())
      corrupt(file, "vocab: id " + std::to_string(id) + " stands twice");
    spec.vocab[static_cast<std::size_t>(id)] = token;
    ids.emplace(token, static_cast<std::int32_t>(id));
  }
  if (model.contains("unk_token") && model["unk_token"].is_string()) {
    const auto found = ids.find(model["unk_token"].get<std::string>());
    if (found != ids.end()) spec.unk_id = found->second;
  }
  std::size_t rank = 0;
  for (const json& merge : model.at("merges")) {
    std::optional<TokenizerSpec::Merge> found;
    if (merge.is_array() && merge.size() == 2) {
      found = merge_of(merge[0].get<std::string>(), merge[1].get<std::string>(), ids);
    } else if (merge.is_string()) {
      found = split_merge(merge.get<std::string>(), ids);
    }
    if (!found)
      corrupt(file, "merges: entry " + std::to_string(rank) +
                        ": expected two tokens whose union is a token, found " +
                        merge.dump().substr(0, 100));
    spec.merges.push_back(*found);
    ++rank;
  }
}

void read_added(const std::string& file, const json& list, TokenizerSpec& spec) {
  TokenIds ids;
  for (std::size_t i = 0; i < spec.vocab.size(); ++i)
    if (!spec.vocab[i].empty()) ids.emplace(spec.vocab[i], static_cast<std::int32_t>(i));
  const std::size_t id_end = highest_ids(spec.vocab.size() + list.size());
  for (const json& entry : list) {
    AddedToken token;
    token.content = entry.at("content").get<std::string>();
    check_length(file, token.content);
    const auto id = integer_of(file, entry.at("id"), "added_tokens: id of '" + token.content + "'");
    if (id < 0 || id >= static_cast<std::int64_t>(id_end))
      corrupt(file, "added_tokens: id " + std::to_string(id) + " of '" + token.content + "'");
    token.id = static_cast<std::int32_t>(id);
    token.single_word = entry.value("single_word", false);
    token.lstrip = entry.value("lstrip", false);
    token.rstrip = entry.value("rstrip", false);
    token.normalized = entry.value("normalized", !entry.value("special", false));
    token.special = entry.value("special", false);
    if (token.content.empty()) continue;
    if (const auto found = ids.find(token.content); found != ids.end()) {
      token.id = found->second;  // the model's own id counts, whatever stands here
    } else {
      token.in_model = false;
      if (spec.vocab.size() <= static_cast<std::size_t>(id))
        spec.vocab.resize(static_cast<std::size_t>(id) + 1);
      std::string& slot = spec.vocab[static_cast<std::size_t>(id)];
      if (!slot.empty() && slot != token.content)
        corrupt(file, "added_tokens: id " + std::to_string(id) + " is '" + token.content +
                          "', but the vocabulary says '" + slot + "'");
      slot = token.content;
    }
    spec.added.push_back(token);
  }
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
    const json config = formats::read_json_file(inside("tokenizer_config.json"), kMaxFileBytes);
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
    const json config = formats::read_json_file(inside(name), kMaxFileBytes);
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
                {"vocab", formats::read_json_file(spec.source, kMaxFileBytes)},
                {"merges", json::array()}};
  std::istringstream file(formats::InputFile(formats::path_in_folder(folder.string(), "merges.txt"))
                              .text(kMaxFileBytes));
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

TokenizerSpec spec_from_json_file(const std::string& path) {
  return spec_from_json(formats::InputFile(path).text(kMaxFileBytes), path);
}

TokenizerSpec spec_from_json(std::string_view text, const std::string& path) try {
  const json all = formats::parse_json(text, path);
  if (!all.is_object() || !all.contains("model"))
    corrupt(path, "no tokenizer: expected a \"model\"");
  TokenizerSpec spec;
  spec.source = path;
  const auto part = [&](const char* key) { return all.contains(key) ? all[key] : json(); };
  read_model(path, all["model"], spec);
  if (all.contains("added_tokens")) read_added(path, all["added_tokens"], spec);
  read_normalizer(path, part("normalizer"), spec);
  read_pre_tokenizer(path, part("pre_tokenizer"), spec);
  read_post_processor(path, part("post_processor"), spec);
  read_decoder(path, part("decoder"), spec);
  spec.description = std::string(spec.byte_level ? "byte-level BPE" : "BPE") +
                     ", tokenizer.json, " + std::to_string(spec.vocab.size()) + " tokens";
  return spec;
} catch (const json::exception& error) {
  corrupt(path, std::string("a field is missing or of the wrong type: ") + error.what());
}

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

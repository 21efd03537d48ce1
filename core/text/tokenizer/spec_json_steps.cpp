// The steps of a tokenizer.json: normalizer, pre-tokenizer, post-processor, decoder.
#include <utility>
#include <vector>

#include "core/base/base64.h"
#include "core/base/json_io.h"
#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

using nlohmann::json;

template <class Step>
void add_step(const std::string& file, const char* what, std::vector<Step>& steps, Step step) {
  if (steps.size() >= kMaxSteps)
    corrupt(file, std::string(what) + ": expected at most " + std::to_string(kMaxSteps) + " steps");
  steps.push_back(std::move(step));
}

std::string type_of(const json& part) {
  return part.is_object() ? part.value("type", std::string("?")) : std::string("?");
}

// Reads {"String": text} or {"Regex": pattern} and says whether it is a regular expression.
std::string pattern_of(const std::string& file, const json& part, bool& is_regex) {
  const json& pattern = part.at("pattern");
  if (pattern.is_string()) return pattern.get<std::string>();
  if (pattern.contains("String")) return pattern["String"].get<std::string>();
  if (!pattern.contains("Regex"))
    unsupported(file, "the pattern " + dump_json(pattern).substr(0, 80));
  is_regex = true;
  return pattern["Regex"].get<std::string>();
}

SplitBehavior behavior_of(const std::string& file, const std::string& name) {
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  unsupported(file, "the split behavior " + name);
}

// "always", "first" or "never"; older files have add_prefix_space instead.
std::string prepend_scheme_of(const json& part) {
  if (part.contains("prepend_scheme")) return part["prepend_scheme"].get<std::string>();
  return part.value("add_prefix_space", true) ? "always" : "never";
}

// An id that the post-processor puts before or behind a text.
std::int32_t added_id(const std::string& file, const json& id, const std::string& name,
                      const TokenizerSpec& spec) {
  const std::int64_t value = integer_of(file, id, "post_processor: ids of " + name);
  if (value < 0 || value >= static_cast<std::int64_t>(spec.vocab.size()))
    corrupt(file, "post_processor adds the id " + std::to_string(value) + ", expected 0 to " +
                      std::to_string(spec.vocab.size() - 1));
  return static_cast<std::int32_t>(value);
}

// A charsmap, which the file holds as base64.
std::string charsmap_of(const std::string& file, const json& part) {
  if (!part.contains("precompiled_charsmap") || !part["precompiled_charsmap"].is_string())
    return "";
  auto bytes = from_base64(part["precompiled_charsmap"].get_ref<const std::string&>());
  if (!bytes)
    corrupt(file, "normalizer: precompiled_charsmap: expected base64, found other characters");
  return *std::move(bytes);
}

}  // namespace

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
  } else if (type == "StripAccents") {
    step.kind = Kind::kStripAccents;
  } else if (type == "Precompiled") {
    step.kind = Kind::kPrecompiled;
    step.content = charsmap_of(file, part);
  } else if (type == "BertNormalizer") {
    step.kind = Kind::kBert;
    step.bert.clean_text = part.value("clean_text", true);
    step.bert.chinese_characters = part.value("handle_chinese_chars", true);
    step.bert.lowercase = part.value("lowercase", true);
    const bool said = part.contains("strip_accents") && part["strip_accents"].is_boolean();
    step.bert.strip_accents = said ? part["strip_accents"].get<bool>() : step.bert.lowercase;
  } else {
    unsupported(file, "the normalizer " + type);
  }
  add_step(file, "normalizer", spec.normalizer, step);
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
  } else if (type == "Punctuation") {
    step.kind = Kind::kPunctuation;
    if (part.contains("behavior"))
      step.behavior = behavior_of(file, part["behavior"].get<std::string>());
  } else if (type == "BertPreTokenizer") {
    PreTokenizerStep space;
    space.pattern = "\\s";
    space.behavior = SplitBehavior::kRemoved;
    add_step(file, "pre_tokenizer", spec.pre_tokenizer, space);
    step.kind = Kind::kPunctuation;
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
  } else if (type == "WordPiece") {
    step.kind = Kind::kWordPiece;
    step.pattern = part.value("prefix", std::string("##"));
    step.cleanup = part.value("cleanup", true);
  } else {
    unsupported(file, "the decoder " + type);
  }
  add_step(file, "decoder", spec.decoder, step);
}

void read_post_processor(const std::string& file, const json& part, TokenizerSpec& spec) {
  if (part.is_null()) return;
  const std::string type = type_of(part);
  if (type == "ByteLevel") return;  // it only affects offsets
  if (type == "Sequence") {
    for (const json& inner : part.at("processors")) read_post_processor(file, inner, spec);
    return;
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    for (const auto& [key, ids] : {std::pair("cls", &spec.prefix_ids), {"sep", &spec.suffix_ids}})
      ids->push_back(added_id(file, part.at(key).at(1), key, spec));
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
    for (const json& id : tokens[name].at("ids"))
      (after ? spec.suffix_ids : spec.prefix_ids).push_back(added_id(file, id, name, spec));
  }
}

}  // namespace triescope::tokenizer

// TokenizerSpec from GGUF metadata: models "gpt2" (byte-level BPE), "llama" (SentencePiece-style BPE by
// scores) and "gemma4" (the same by merges).
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/files/end_tokens.h"
#include "core/files/gguf.h"
#include "core/text/tokenizer/score_merges.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

namespace {

// ggml's token types.
constexpr std::int64_t kControl = 3, kUserDefined = 4, kByte = 6;
using Kind = PreTokenizerStep::Kind;

PreTokenizerStep split_step(const char* regex) {
  PreTokenizerStep step;
  step.kind = Kind::kSplit;
  step.pattern = regex;
  return step;
}

PreTokenizerStep byte_level_step(bool use_regex) {
  PreTokenizerStep step;
  step.kind = Kind::kByteLevel;
  step.use_regex = use_regex;
  return step;
}

// What llama.cpp's names of pre-tokenizers mean: the steps that transformers has for the families
// that carry the name. llama.cpp itself never normalises.
struct PreType {
  std::vector<const char*> names;
  const char* regex = nullptr;  // null: GPT-2's, in the byte-level step
  bool single_digits = false;   // digits are split off one by one, before that
  bool ignore_merges = false, nfc = false;
  bool adds_bos = false;  // where the file does not say
};

const std::vector<PreType>& pre_types() {
  static const std::vector<PreType> types = {
      {.names = {"gpt-2", "gpt2", "phi-2", "exaone4"}},
      {.names = {"olmo"}, .nfc = true},  // GPT-NeoX's vocabulary
      {.names = {"smollm", "starcoder", "refact"}, .single_digits = true},
      {.names = {"command-r"}, .single_digits = true, .nfc = true},
      {.names = {"llama-bpe", "llama3", "llama-v3", "lfm2"},
       .regex = kLlama3Regex,
       .ignore_merges = true,
       .adds_bos = true},
      // SmolLM3; GPT-4's split, of OLMo 2 and 3 and Granite 4; GLM-4 before 0414
      {.names = {"smaug-bpe", "dbrx", "chatglm-bpe"}, .regex = kLlama3Regex},
      {.names = {"glm4"}, .regex = kLlama3Regex, .ignore_merges = true},
      {.names = {"gpt-4o"}, .regex = kGpt4oRegex, .ignore_merges = true},
      {.names = {"tekken"}, .regex = kTekkenRegex, .ignore_merges = true, .adds_bos = true},
      {.names = {"qwen2", "deepseek-r1-qwen"}, .regex = kQwen2Regex, .nfc = true},
      {.names = {"stablelm2"}, .regex = kQwen2Regex},
      {.names = {"seed-coder"}, .regex = kSeedRegex},
  };
  return types;
}

// Whether a BOS token is added, unless the file says.
bool read_pre_type(const std::string& path, const std::string& pre, TokenizerSpec& spec) {
  std::string known;
  for (const PreType& type : pre_types()) {
    for (const char* name : type.names) {
      known += (known.empty() ? "" : ", ") + std::string(name);
      if (pre != name) continue;
      if (type.single_digits) {
        PreTokenizerStep digits;
        digits.kind = Kind::kDigits;
        digits.individual_digits = true;
        spec.pre_tokenizer.push_back(digits);
      }
      if (type.regex != nullptr) spec.pre_tokenizer.push_back(split_step(type.regex));
      spec.pre_tokenizer.push_back(byte_level_step(type.regex == nullptr));
      spec.ignore_merges = type.ignore_merges;
      if (type.nfc) {
        NormalizerStep nfc;
        nfc.kind = NormalizerStep::Kind::kNfc;
        spec.normalizer = {nfc};
      }
      return type.adds_bos;
    }
  }
  throw Error(ErrorCode::kNotSupported,
              path + ": tokenizer.ggml.pre '" + pre + "' is not supported (" + known + " are)");
}

void read_merges(const std::string& path, const std::vector<std::string>& merges,
                 const TokenIds& ids, TokenizerSpec& spec) {
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto merge = split_merge(merges[rank], ids);
    if (!merge)
      throw Error(ErrorCode::kCorruption, path + ": tokenizer.ggml.merges, entry " +
                                              std::to_string(rank) + ": '" + merges[rank] +
                                              "' is not in the vocabulary");
    spec.merges.push_back(*merge);
  }
}

// A byte-level vocabulary needs its merges: without them every text would be single bytes.
std::vector<std::string> merges_of(const formats::GgufFile& file,
                                   std::span<const std::int64_t> types, const TokenizerSpec& spec) {
  const auto merges = file.texts("tokenizer.ggml.merges");
  const auto is_made = [&](std::size_t id) {
    const std::string& token = spec.vocab[id];
    return types[id] != kControl && types[id] != kUserDefined && !token.empty() &&
           utf8_length(token, 0) < token.size();
  };
  bool needed = !merges;
  for (std::size_t id = 0; id < types.size() && merges && merges->empty() && !spec.ignore_merges;
       ++id)
    needed = needed || is_made(id);
  if (needed)
    throw Error(ErrorCode::kCorruption,
                file.path() + ": expected tokenizer.ggml.merges, found " +
                    (merges ? "an empty list" : "none") + ": a byte-level vocabulary of " +
                    std::to_string(types.size()) +
                    " tokens cannot be used without its merges; convert the model again");
  return *merges;
}

// Without token_type, special tokens would be text, and byte tokens would not be bytes.
std::vector<std::int64_t> types_of(const formats::GgufFile& file,
                                   std::span<const std::string> vocab) {
  const auto types = file.integers("tokenizer.ggml.token_type");
  if (types && types->size() == vocab.size()) return *types;
  const auto count = static_cast<std::int64_t>(vocab.size());
  bool needed = types.has_value() || !formats::end_tokens(file, count, nullptr).empty();
  for (const char* name : {"bos", "unknown", "padding", "seperator", "cls", "mask"})
    needed = needed || formats::special_token(
                           file, "tokenizer.ggml." + std::string(name) + "_token_id", count);
  for (const std::string& token : vocab)
    needed = needed || (token.size() == 6 && token.starts_with("<0x") && token.ends_with('>'));
  if (needed)
    throw Error(ErrorCode::kCorruption, file.path() + ": tokenizer.ggml.token_type: expected " +
                                            std::to_string(count) + " entries, found " +
                                            std::to_string(types ? types->size() : 0));
  return std::vector<std::int64_t>(vocab.size(), 1);
}

}  // namespace

TokenizerSpec spec_from_gguf(const std::string& path) {
  return spec_from_gguf(*formats::GgufFile::open(path));
}

TokenizerSpec spec_from_gguf(const formats::GgufFile& file) {
  const std::string& path = file.path();
  TokenizerSpec spec;
  spec.source = path;
  const std::string model = file.text("tokenizer.ggml.model").value_or("");
  auto tokens = file.texts("tokenizer.ggml.tokens");
  if (model.empty() || !tokens || tokens->empty())
    throw Error(ErrorCode::kCorruption,
                path + ": no tokenizer: expected tokenizer.ggml.model and tokenizer.ggml.tokens");
  spec.vocab = std::move(*tokens);
  const std::size_t count = spec.vocab.size();
  const std::vector<std::int64_t> types = types_of(file, spec.vocab);
  for (const std::string& token : spec.vocab)
    if (token.size() > kMaxTokenBytes)
      throw Error(ErrorCode::kCorruption, path + ": tokenizer.ggml.tokens: expected at most " +
                                              std::to_string(kMaxTokenBytes) +
                                              " bytes a token, found " +
                                              std::to_string(token.size()));
  TokenIds ids;
  ids.reserve(count);
  for (std::size_t i = 0; i < count; ++i) ids.emplace(spec.vocab[i], static_cast<std::int32_t>(i));

  const auto token_id = [&](const char* key) {
    return formats::special_token(file, key, static_cast<std::int64_t>(count)).value_or(-1);
  };
  const auto text_of = [&](std::int32_t id) {
    return id < 0 ? std::string() : spec.vocab[static_cast<std::size_t>(id)];
  };
  spec.bos_id = token_id("tokenizer.ggml.bos_token_id");
  const std::int32_t eos = token_id("tokenizer.ggml.eos_token_id");
  spec.eos_ids = formats::end_tokens(file, static_cast<std::int64_t>(count), nullptr);
  spec.unk_id = token_id("tokenizer.ggml.unknown_token_id");
  for (const auto& [name, id] : {std::pair("bos_token", spec.bos_id),
                                 {"eos_token", eos},
                                 {"unk_token", spec.unk_id},
                                 {"sep_token", token_id("tokenizer.ggml.seperator_token_id")},
                                 {"pad_token", token_id("tokenizer.ggml.padding_token_id")},
                                 {"cls_token", token_id("tokenizer.ggml.cls_token_id")},
                                 {"mask_token", token_id("tokenizer.ggml.mask_token_id")}})
    if (std::string text = text_of(id); !text.empty())
      spec.special_texts.emplace_back(name, std::move(text));
  spec.chat_template = file.text("tokenizer.chat_template").value_or("");
  for (std::size_t i = 0; i < count; ++i) {
    if (types[i] != kControl && types[i] != kUserDefined) continue;
    if (!spec.vocab[i].empty())
      spec.added.push_back({spec.vocab[i], static_cast<std::int32_t>(i), false, false, false, false,
                            types[i] == kControl, true});
  }

  bool adds_bos = false;
  if (model == "gpt2") {
    const std::string pre = file.text("tokenizer.ggml.pre").value_or("gpt-2");
    adds_bos = read_pre_type(path, pre, spec);
    read_merges(path, merges_of(file, types, spec), ids, spec);
    spec.byte_level = true;
    spec.fuse_unk = true;  // a byte that the vocabulary lacks is <unk>, if the file names one
    DecoderStep decoder;
    decoder.kind = DecoderStep::Kind::kByteLevel;
    spec.decoder = {decoder};
    spec.description = "byte-level BPE, " + pre + ", " + std::to_string(count) + " tokens";
  } else if (model == "llama" || model == "gemma4") {
    const auto scores = file.floats("tokenizer.ggml.scores");
    if (!scores || scores->size() != count)
      throw Error(ErrorCode::kCorruption, path + ": tokenizer.ggml.scores: expected " +
                                              std::to_string(count) + " entries, found " +
                                              std::to_string(scores ? scores->size() : 0));
    if (std::any_of(scores->begin(), scores->end(), [](float score) { return std::isnan(score); }))
      throw Error(ErrorCode::kCorruption, path + ": tokenizer.ggml.scores: not a number");
    // Special and byte tokens take no part in merges.
    TokenIds normal = ids;
    for (std::size_t i = 0; i < count; ++i)
      if (types[i] == kControl || types[i] == kUserDefined || types[i] == kByte)
        normal.erase(spec.vocab[i]);
    if (const auto merges = file.texts("tokenizer.ggml.merges"); merges && !merges->empty()) {
      read_merges(path, *merges, ids, spec);
    } else if (model == "gemma4") {
      throw Error(
          ErrorCode::kCorruption,
          path +
              ": tokenizer.ggml.merges: expected a list, as tokenizer.ggml.model 'gemma4' needs it, "
              "found none; convert the model again");
    } else {
      merges_from_scores(path + ": tokenizer.ggml.tokens", *scores, normal, spec);
    }
    spec.byte_fallback = std::find(types.begin(), types.end(), kByte) != types.end();
    spec.fuse_unk = true;
    const std::string space = "\xE2\x96\x81";
    const bool prefix = file.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
    if (prefix) spec.normalizer.push_back({NormalizerStep::Kind::kPrepend, "", space});
    spec.normalizer.push_back({NormalizerStep::Kind::kReplace, " ", space});
    using D = DecoderStep::Kind;
    spec.decoder = {{D::kReplace, space, " "}, {D::kByteFallback, "", ""}, {D::kFuse, "", ""}};
    if (prefix) spec.decoder.push_back({D::kStrip, "", " ", 1, 0});
    adds_bos = true;
    spec.description = "SentencePiece-style BPE, " + std::to_string(count) + " tokens";
  } else {
    throw Error(ErrorCode::kNotSupported, path + ": tokenizer.ggml.model '" + model +
                                              "' is not supported (gpt2, llama and gemma4 are)");
  }
  // An id that the vocabulary lacks means "none", except where every text must have it.
  const auto add = [&](const std::string& name, bool by_default, std::int32_t id,
                       std::vector<std::int32_t>& to) {
    const auto asked = file.boolean("tokenizer.ggml.add_" + name + "_token");
    const std::string key = "tokenizer.ggml." + name + "_token_id";
    if (asked.value_or(false) && id < 0 && file.has(key))
      spec.cannot_add = path + ": " + key + ": expected 0 to " + std::to_string(count - 1) +
                        ", because every text is to have it (add_" + name + "_token), found " +
                        std::to_string(*file.integer(key)) + "; give the prompt as token ids";
    if (asked.value_or(by_default) && id >= 0) to.push_back(id);
  };
  add("bos", adds_bos, spec.bos_id, spec.prefix_ids);
  add("eos", false, eos, spec.suffix_ids);
  return spec;
}

}  // namespace triescope::tokenizer

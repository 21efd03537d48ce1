// Reads a TokenizerSpec from one tokenizer.json: this file reads the added tokens,
// spec_json_model.cpp the model and spec_json_steps.cpp the steps around it.
#include "core/text/tokenizer/spec_json.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/files/input_file.h"
#include "core/files/json.h"

namespace triescope::tokenizer {
namespace {

using nlohmann::json;

void read_added(const std::string& file, const json& list, TokenizerSpec& spec) {
  TokenIds ids;
  for (std::size_t i = 0; i < spec.vocab.size(); ++i)
    if (!spec.vocab[i].empty()) ids.emplace(spec.vocab[i], static_cast<std::int32_t>(i));
  const std::size_t id_end = highest_ids(spec.vocab.size() + list.size());
  for (const json& entry : list) {
    AddedToken token = added_token_of(file, entry);
    const auto id = integer_of(file, entry.at("id"), "added_tokens: id of '" + token.content + "'");
    if (id < 0 || id >= static_cast<std::int64_t>(id_end))
      corrupt(file, "added_tokens: id " + std::to_string(id) + " of '" + token.content + "'");
    token.id = static_cast<std::int32_t>(id);
    if (token.content.empty()) continue;
    if (const auto found = ids.find(token.content); found != ids.end()) {
      token.id = found->second;  // the model's own id counts, whatever this entry says
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

}  // namespace

void corrupt(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kCorruption, file + ": " + what);
}
void unsupported(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kNotSupported, file + ": " + what + " is not supported");
}

std::size_t highest_ids(std::size_t tokens) {
  constexpr std::size_t kMaxVocab = 2'000'000, kHoles = 1 << 14;
  return std::min(kMaxVocab, 2 * tokens + kHoles);
}

void check_length(const std::string& file, const std::string& token) {
  if (token.size() > kMaxTokenBytes)
    corrupt(file, "expected tokens of at most " + std::to_string(kMaxTokenBytes) +
                      " bytes, found one of " + std::to_string(token.size()));
}

AddedToken added_token_of(const std::string& file, const json& entry) {
  AddedToken token;
  token.content = entry.at("content").get<std::string>();
  check_length(file, token.content);
  token.single_word = entry.value("single_word", false);
  token.lstrip = entry.value("lstrip", false);
  token.rstrip = entry.value("rstrip", false);
  token.special = entry.value("special", false);
  token.normalized = entry.value("normalized", !token.special);
  token.was_normalized = token.normalized;
  return token;
}

std::int64_t integer_of(const std::string& file, const json& value, const std::string& what) {
  if (!value.is_number_integer())
    corrupt(file, what + ": expected an integer, found " + dump_json(value).substr(0, 80));
  // An unsigned number above 2^63 reads as negative, which every caller refuses.
  return value.get<std::int64_t>();
}

TokenizerSpec spec_from_json_file(const std::string& path) {
  return spec_from_json(formats::InputFile(path).text(kMaxTokenizerBytes), path);
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
  if (const json padding = part("padding"); padding.is_object() && padding.contains("pad_token"))
    spec.special_texts.emplace_back("pad_token", padding["pad_token"].get<std::string>());
  read_normalizer(path, part("normalizer"), spec);
  read_pre_tokenizer(path, part("pre_tokenizer"), spec);
  read_post_processor(path, part("post_processor"), spec);
  read_decoder(path, part("decoder"), spec);
  spec.description =
      model_name(spec) + ", tokenizer.json, " + std::to_string(spec.vocab.size()) + " tokens";
  return spec;
} catch (const json::exception& error) {
  corrupt(path, std::string("a field is missing or of the wrong type: ") + error.what());
}

}  // namespace triescope::tokenizer

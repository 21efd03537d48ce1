#include "core/files/end_tokens.h"

#include <algorithm>
#include <span>

namespace triescope::formats {
namespace {

using Texts = std::span<const std::string_view>;

constexpr std::string_view kEndTexts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
};
// Code models separate files with these texts. Only the first of each list that the vocabulary has
// counts.
constexpr std::string_view kPadTexts[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>",
                                          "[PAD]"};
constexpr std::string_view kRepositoryTexts[] = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>",
                                                 "<REPO>", "<reponame>"};
constexpr std::string_view kFileTexts[] = {"<|file_sep|>"};

bool is_one_of(Texts texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

struct EndKey {
  const char* key;
  Texts otherwise;  // the first token with one of these texts is meant where the key names none
};
const EndKey kEndKeys[] = {
    {"tokenizer.ggml.eos_token_id", {}},
    {"tokenizer.ggml.eot_token_id", {}},
    {"tokenizer.ggml.eom_token_id", {}},
    {"tokenizer.ggml.fim_pad_token_id", kPadTexts},
    {"tokenizer.ggml.fim_rep_token_id", kRepositoryTexts},
    {"tokenizer.ggml.fim_sep_token_id", kFileTexts},
};

}  // namespace

std::optional<std::int32_t> special_token(const GgufFile& file, std::string_view key,
                                          std::int64_t vocab_size) {
  const std::optional<std::int64_t> id = file.integer(key);
  if (!id || *id < 0 || *id >= vocab_size) return std::nullopt;
  return static_cast<std::int32_t>(*id);
}

std::vector<std::int32_t> end_tokens(const GgufFile& file, std::int64_t vocab_size,
                                     std::vector<std::string>* notes) {
  std::vector<std::string> tokens =
      file.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string>());
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(vocab_size)));
  std::vector<std::int32_t> ids;
  const auto add = [&](std::int32_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const EndKey& end : kEndKeys) {
    if (const auto id = special_token(file, end.key, vocab_size)) {
      add(*id);
      continue;
    }
    const std::int64_t named = file.integer(end.key).value_or(-1);
    if (named >= vocab_size && named != 0xffffffff && notes != nullptr)
      notes->push_back(std::string(end.key) + " is " + std::to_string(named) +
                       ", outside the vocabulary of " + std::to_string(vocab_size) +
                       " tokens: no text ends by it");
    const auto found = std::ranges::find_if(
        tokens, [&](const std::string& text) { return is_one_of(end.otherwise, text); });
    if (found != tokens.end()) add(static_cast<std::int32_t>(found - tokens.begin()));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (is_one_of(kEndTexts, tokens[i])) add(static_cast<std::int32_t>(i));

  const auto text_of = [&](std::int32_t id) -> std::string_view {
    const auto at = static_cast<std::size_t>(id);
    return at < tokens.size() ? tokens[at] : std::string_view();
  };
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(ids, [&](std::int32_t id) { return text_of(id) == text; });
  };
  // Beside these tokens, <|end|> ends a part of an answer and </s> is an ordinary token.
  const bool ends_parts =
      (has("<|return|>") || has("<|flush|>")) && (has("<|call|>") || has("<|calls|>"));
  const bool has_tool_response = has("<|tool_response>");
  std::erase_if(ids, [&](std::int32_t id) {
    const std::string_view text = text_of(id);
    return (text == "<|end|>" && ends_parts) || (text == "</s>" && has_tool_response);
  });
  return ids;
}

}  // namespace triescope::formats

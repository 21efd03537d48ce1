#include "core/sampling/logits_processors.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope {
namespace {

constexpr float kRemoved = -std::numeric_limits<float>::infinity();

using Words = std::vector<std::vector<std::int32_t>>;

[[noreturn]] void bad_words_error(const std::string& found) {
  throw Error(ErrorCode::kInvalidArgument,
              "bad_words_ids: expected words of token ids, such as \"12 13; 44\" or [[12, 13], "
              "[44]]; found " +
                  found);
}

Words words_from_text(const std::string& text) {
  Words words;
  std::vector<std::int32_t> word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      std::int64_t id = 0;
      for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        id = id * 10 + (text[i] - '0');
        if (id > std::numeric_limits<std::int32_t>::max()) bad_words_error('"' + text + '"');
      }
      word.push_back(static_cast<std::int32_t>(id));
      continue;
    }
    if (c == ';') {
      end_word();
    } else if (c != ',' && !std::isspace(static_cast<unsigned char>(c))) {
      bad_words_error('"' + text + '"');
    }
    ++i;
  }
  end_word();
  return words;
}

Words words_from_json(const nlohmann::json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) {
    // On the command line a list of lists is a text.
    const std::string text = value.get<std::string>();
    const auto first = text.find_first_not_of(" \t");
    if (first != std::string::npos && text[first] == '[') {
      const auto parsed = json_or_discarded(text);
      if (!parsed.is_array()) bad_words_error('"' + text + '"');
      return words_from_json(parsed);
    }
    return words_from_text(text);
  }
  if (!value.is_array()) bad_words_error(dump_json(value));
  Words words;
  for (const auto& entry : value) {
    if (entry.is_number_integer()) {
      words.push_back({entry.get<std::int32_t>()});
    } else if (entry.is_array() && !entry.empty()) {
      auto& word = words.emplace_back();
      for (const auto& id : entry) {
        if (!id.is_number_integer()) bad_words_error(dump_json(value));
        word.push_back(id.get<std::int32_t>());
      }
    } else {
      bad_words_error(dump_json(value));
    }
  }
  return words;
}

void penalise_repetition(std::span<const std::int32_t> context, float penalty,
                         std::span<float> scores) {
  // Each distinct token counts once: transformers gathers all scores first and scatters the changed
  // ones back.
  std::vector<bool> seen(scores.size(), false);
  for (const std::int32_t token : context) {
    const auto i = static_cast<std::size_t>(token);
    if (i >= scores.size() || seen[i]) continue;
    seen[i] = true;
    scores[i] = scores[i] < 0 ? scores[i] * penalty : scores[i] / penalty;
  }
}

void forbid_repeated_ngrams(std::span<const std::int32_t> context, int size,
                            std::span<float> scores) {
  const auto n = static_cast<std::size_t>(size);
  if (context.size() < n) return;
  const auto prefix = context.last(n - 1);
  for (std::size_t i = 0; i + n <= context.size(); ++i) {
    if (std::equal(prefix.begin(), prefix.end(), context.begin() + static_cast<std::ptrdiff_t>(i)))
      scores[static_cast<std::size_t>(context[i + n - 1])] = kRemoved;
  }
}

void forbid_words(std::span<const std::int32_t> context, const Words& words,
                  std::span<float> scores) {
  for (const auto& word : words) {
    if (word.size() > 1) {
      // transformers compares with the whole word's length, though only its prefix must be there.
      if (word.size() > context.size()) continue;
      if (!std::equal(word.begin(), word.end() - 1, context.last(word.size() - 1).begin()))
        continue;
    }
    scores[static_cast<std::size_t>(word.back())] = kRemoved;
  }
}

}  // namespace

LogitsProcessors::LogitsProcessors(const RunContext& run)
    : LogitsProcessors(run.settings, run.eos_token_ids, run.vocab_size) {}

LogitsProcessors::LogitsProcessors(const Settings& settings,
                                   std::span<const std::int32_t> eos_token_ids, int vocab_size)
    : repetition_penalty_(static_cast<float>(settings.number_or("repetition_penalty", 1))),
      no_repeat_ngram_size_(settings.integer_or("no_repeat_ngram_size", 0)),
      min_length_(settings.integer_or("min_length", 0)),
      min_new_tokens_(settings.integer_or("min_new_tokens", 0)),
      eos_token_ids_(eos_token_ids.begin(), eos_token_ids.end()) {
  if (!(repetition_penalty_ > 0))
    throw Error(ErrorCode::kInvalidArgument,
                "repetition_penalty: expected a number above 0, found " +
                    dump_json(settings.value("repetition_penalty")));
  if (settings.has("bad_words_ids")) bad_words_ = words_from_json(settings.value("bad_words_ids"));
  for (const auto& word : bad_words_)
    for (const std::int32_t id : word)
      if (id < 0 || id >= vocab_size)
        throw Error(ErrorCode::kInvalidArgument, "bad_words_ids: expected token ids from 0 to " +
                                                     std::to_string(vocab_size - 1) + ", found " +
                                                     std::to_string(id));
  std::erase_if(bad_words_, [&](const auto& word) {
    return word.size() == 1 && std::ranges::find(eos_token_ids_, word[0]) != eos_token_ids_.end();
  });
}

bool LogitsProcessors::any() const {
  return repetition_penalty_ != 1.0f || no_repeat_ngram_size_ > 0 || !bad_words_.empty() ||
         ((min_length_ > 0 || min_new_tokens_ > 0) && !eos_token_ids_.empty());
}

void LogitsProcessors::apply(std::span<const std::int32_t> context_tokens, int generated,
                             std::span<float> scores) const {
  if (repetition_penalty_ != 1.0f) penalise_repetition(context_tokens, repetition_penalty_, scores);
  if (no_repeat_ngram_size_ > 0)
    forbid_repeated_ngrams(context_tokens, no_repeat_ngram_size_, scores);
  forbid_words(context_tokens, bad_words_, scores);
  const bool too_short = min_new_tokens_ > 0
                             ? generated < min_new_tokens_
                             : context_tokens.size() < static_cast<std::size_t>(min_length_);
  if (too_short)
    for (const std::int32_t eos : eos_token_ids_)
      if (eos >= 0 && static_cast<std::size_t>(eos) < scores.size())
        scores[static_cast<std::size_t>(eos)] = kRemoved;
}

std::vector<Parameter> logits_processor_parameters() {
  return {
      number("repetition_penalty", "Repetition Penalty", 1.0, 0.01, 100,
             "Scores of tokens that are already in the context (prompt included) are divided by "
             "this where positive, multiplied where negative. 1 = off; above 1 discourages "
             "repetition."),
      zero_is(
          "off",
          integer(
              "no_repeat_ngram_size", "No-Repeat N-gram", 0, 0, 1000,
              "No run of this many tokens may come twice in prompt and generated text. 0 = off.")),
      empty_is(
          "none",
          text("bad_words_ids", "Forbidden Tokens", "",
               "Token sequences that must not be generated: ids separated by spaces, sequences "
               "by ';', as in \"12 13; 44\". Empty = off.")),
      zero_is("off",
              integer("min_length", "Min Length", 0, 0, 1000000,
                      "End-of-sequence tokens are impossible before this many tokens, the prompt's "
                      "included. Means nothing beside min_new_tokens. 0 = off.")),
      zero_is(
          "off",
          integer(
              "min_new_tokens", "Min New Tokens", 0, 0, 1000000,
              "End-of-sequence tokens are impossible before this many generated tokens. 0 = off.")),
  };
}

}  // namespace triescope

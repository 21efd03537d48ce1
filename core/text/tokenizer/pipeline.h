// Normaliser and pre-tokeniser: turn a text into the words on which BPE works. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// How long a text of `bytes` may become in a normaliser, a pre-tokeniser or a decoder: steps that
// each double it would fill any memory.
constexpr std::size_t growth_limit(std::size_t bytes) { return 64 * bytes + (64 << 10); }
[[noreturn]] void refuse_growth();  // Error{kNotSupported}

// Replaces every `pattern` in `text` by `content`. Error{kNotSupported}: longer than `limit`.
std::string replace_all(std::string_view text, const std::string& pattern,
                        const std::string& content, std::size_t limit);

class Pipeline {
 public:
  explicit Pipeline(const TokenizerSpec& spec);
  // beginning_removed: whether the text's first characters were dropped; tokenizers then treats the
  // rest as not standing at the beginning. Error{kNotSupported}: the text grows beyond
  // growth_limit().
  std::string normalize(std::string_view text, bool* beginning_removed = nullptr) const;
  // Splits normalised text into words; `first` = it stands at the very beginning of the input.
  // Error{kNotSupported}: as normalize().
  void split(std::string_view text, bool first, std::vector<std::string>& words) const;

 private:
  std::vector<NormalizerStep> normalizer_;
  std::vector<Regex> normalizer_regexes_;  // one for each kReplaceRegex step, in order
  std::vector<PreTokenizerStep> steps_;
  std::vector<Regex> regexes_;  // one for each step (unused ones match nothing)
};

}  // namespace triescope::tokenizer

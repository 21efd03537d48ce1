// Normaliser and pre-tokeniser: a text becomes the words that BPE works on. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/regex.h"
#include "core/tokenizer/spec.h"

namespace triescope::tokenizer {

// How long a text of `bytes` may become on its way through a normaliser, a pre-tokeniser or a
// decoder: steps that each double it would fill any memory.
constexpr std::size_t growth_limit(std::size_t bytes) { return 64 * bytes + (64 << 10); }
[[noreturn]] void refuse_growth();  // Error{kNotSupported}

// Every `pattern` of `text` becomes `content`. Error{kNotSupported}: longer than `limit`.
std::string replace_all(std::string_view text, const std::string& pattern,
                        const std::string& content, std::size_t limit);

class Pipeline {
 public:
  explicit Pipeline(const TokenizerSpec& spec);
  // beginning_removed: whether the text's first characters were dropped. tokenizers counts what is
  // left as not standing at the beginning then.
  // Error{kNotSupported}: the text grows beyond growth_limit().
  std::string normalize(std::string_view text, bool* beginning_removed = nullptr) const;
  // Likewise. Splits normalised text into words; `first` = it stands at the very beginning of the
  // input.
  void split(std::string_view text, bool first, std::vector<std::string>& words) const;

 private:
  std::vector<NormalizerStep> normalizer_;
  std::vector<Regex> normalizer_regexes_;  // one a kReplaceRegex step, in order
  std::vector<PreTokenizerStep> steps_;
  std::vector<Regex> regexes_;  // one a step (unused ones match nothing)
};

}  // namespace triescope::tokenizer

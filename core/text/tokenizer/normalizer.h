// Normaliser: what a text becomes before it is cut into words. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/charsmap.h"
#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/sentencepiece_form.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

class Normalizer {
 public:
  // Errors: kNotSupported (a regular expression), kCorruption (a charsmap).
  explicit Normalizer(const std::vector<NormalizerStep>& steps);
  // `first` = the text stands at the very beginning of the input. beginning_removed: whether the
  // text's first characters were dropped; tokenizers then treats the rest as not standing at the
  // beginning. Error{kNotSupported}: the text grows beyond growth_limit().
  std::string apply(std::string_view text, bool first, bool* beginning_removed = nullptr) const;

 private:
  std::vector<NormalizerStep> steps_;
  std::vector<Regex> regexes_;            // one for each kReplaceRegex step, in order
  std::vector<Charsmap> maps_;            // for each kPrecompiled
  std::vector<SentencePieceForm> forms_;  // for each kSentencePiece
};

}  // namespace triescope::tokenizer

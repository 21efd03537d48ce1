// Pre-tokeniser: cuts a normalised text into the words that a WordModel encodes. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

class PreTokenizer {
 public:
  // Error{kNotSupported}: a regular expression.
  explicit PreTokenizer(const std::vector<PreTokenizerStep>& steps);
  // Splits normalised text into words; `first` = it stands at the very beginning of the input.
  // Error{kNotSupported}: the text grows beyond growth_limit().
  void split(std::string_view text, bool first, std::vector<std::string>& words) const;

 private:
  std::vector<PreTokenizerStep> steps_;
  std::vector<Regex> regexes_;  // one for each step (unused ones match nothing)
};

}  // namespace triescope::tokenizer

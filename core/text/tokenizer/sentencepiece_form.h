// SentencePiece's normaliser: characters by a charsmap, user-defined symbols as they are, spaces as
// its NormalizerSpec says. Immutable. Source: sentencepiece/src/normalizer.cc.
#pragma once

#include <string>
#include <string_view>

#include "core/text/tokenizer/byte_trie.h"
#include "core/text/tokenizer/charsmap.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

class SentencePieceForm {
 public:
  // Error{kCorruption}: the charsmap.
  SentencePieceForm(const SentencePieceSpaces& spaces, std::string_view charsmap);
  // `first`: the text stands at the very beginning. Error{kNotSupported}: longer than `limit`.
  std::string apply(std::string_view text, bool first, std::size_t limit) const;

 private:
  Charsmap::Match prefix(std::string_view text) const;
  SentencePieceSpaces spaces_;
  Charsmap map_;
  ByteTrie verbatim_;
};

}  // namespace triescope::tokenizer

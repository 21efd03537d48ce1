// A precompiled charsmap: SentencePiece's table of character sequences and what each becomes, as
// tokenizer.model and tokenizer.json's normalizer "Precompiled" hold it. Untrusted bytes; every
// step in them is checked. Immutable. Source: sentencepiece/src/normalizer.cc; darts-clone (the
// double array); spm_precompiled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::tokenizer {

class Charsmap {
 public:
  struct Match {
    std::size_t length = 0;    // in bytes of the text; 0 = none
    std::string_view content;  // what it becomes
  };

  // `bytes`: the size of the double array (4 bytes, little-endian), the array of 4-byte units, then
  // texts, each ended by a zero byte. Empty: a map without entries. Error{kCorruption}.
  explicit Charsmap(std::string_view bytes);

  // The longest, or the shortest, entry with which `text` begins.
  Match longest(std::string_view text) const { return find(text, true); }
  Match shortest(std::string_view text) const { return find(text, false); }

 private:
  Match find(std::string_view text, bool longest) const;
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

// Applies it as `tokenizers` does: to graphemes of up to five bytes, else to characters, each of
// which becomes what its shortest entry says. Error{kNotSupported}: longer than `limit`.
std::string precompiled_form(std::string_view text, const Charsmap& map, std::size_t limit);

}  // namespace triescope::tokenizer

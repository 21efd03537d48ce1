// WordModel: turns a word, as normaliser and pre-tokeniser leave it, into ids. Immutable once made;
// any number of threads may encode, each with its own WordScratch.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// Scratch memory of encoding, kept from word to word.
struct WordScratch {
  struct Symbol {
    std::int32_t id, previous, next;
    std::int32_t rank, result;  // of the merge with the next symbol
  };
  struct Place {  // the best way to this byte of a word
    double score;
    std::int32_t id;      // of the last token on it
    std::uint32_t begin;  // where that token begins
  };
  std::vector<Symbol> symbols;       // BPE
  std::vector<std::uint64_t> queue;  // BPE
  std::vector<Place> places;         // Unigram
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the ids of `word`: valid UTF-8, in the vocabulary's own spelling.
  // Error{kNotSupported}: it holds what the vocabulary lacks, and no token stands for that.
  virtual void encode(std::string_view word, std::vector<std::int32_t>& out,
                      WordScratch& scratch) const = 0;
  // Where the piece of `word` that begins at `at` ends. Pieces can be encoded one by one (and found
  // in a cache) with the same result as the whole word.
  virtual std::size_t piece_end(std::string_view word, std::size_t) const { return word.size(); }
};

// The tokens that a text can become by the model, with their ids. Error{kNotSupported}: more than 32
// MB of them.
std::vector<std::pair<std::string_view, std::int32_t>> text_tokens(const TokenizerSpec& spec);

// Errors: kCorruption, kNotSupported.
std::unique_ptr<WordModel> make_word_model(const TokenizerSpec& spec);

}  // namespace triescope::tokenizer

#include "core/text/tokenizer/word_piece.h"

#include "core/base/error.h"
#include "core/base/unicode.h"

namespace triescope::tokenizer {
namespace {

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_step(text, at)) ++count;
  return count;
}

}  // namespace

WordPiece::WordPiece(const TokenizerSpec& spec)
    : trie_(text_tokens(spec)),
      inner_(trie_.root()),
      max_characters_(spec.max_word_characters),
      unk_id_(spec.unk_id) {
  if (unk_id_ < 0)
    throw Error(ErrorCode::kCorruption,
                "WordPiece: expected an unk_token of the vocabulary, found none");
  for (const char byte : spec.continuing_prefix)
    if (inner_ >= 0) inner_ = trie_.next(inner_, static_cast<unsigned char>(byte));
}

void WordPiece::encode(std::string_view word, std::vector<std::int32_t>& out, WordScratch&) const {
  const std::size_t before = out.size();
  if (word.size() > max_characters_ && characters(word) > max_characters_) {
    out.push_back(unk_id_);
    return;
  }
  for (std::size_t begin = 0; begin < word.size();) {
    std::int32_t node = begin == 0 ? trie_.root() : inner_, best = -1;
    std::size_t best_end = begin;
    for (std::size_t end = begin; end < word.size() && node >= 0;) {
      node = trie_.next(node, static_cast<unsigned char>(word[end++]));
      if (node < 0 || trie_.value(node) < 0) continue;
      best = trie_.value(node);
      best_end = end;
    }
    if (best < 0) {
      out.resize(before);
      out.push_back(unk_id_);
      return;
    }
    out.push_back(best);
    begin = best_end;
  }
}

}  // namespace triescope::tokenizer

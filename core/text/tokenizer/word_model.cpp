#include "core/text/tokenizer/word_model.h"

#include <string>

#include "core/base/error.h"
#include "core/text/tokenizer/bpe.h"
#include "core/text/tokenizer/unigram.h"
#include "core/text/tokenizer/word_piece.h"

namespace triescope::tokenizer {
namespace {

// A trie takes 12 bytes for each. Vocabularies of a million tokens have 10 MB.
constexpr std::size_t kMaxTextBytes = 32u << 20;

}  // namespace

std::vector<std::pair<std::string_view, std::int32_t>> text_tokens(const TokenizerSpec& spec) {
  std::vector<bool> outside = spec.hidden;
  outside.resize(spec.vocab.size(), false);
  for (const AddedToken& token : spec.added)
    if (!token.in_model) outside[static_cast<std::size_t>(token.id)] = true;
  std::vector<std::pair<std::string_view, std::int32_t>> tokens;
  std::size_t bytes = 0;
  for (std::size_t id = 0; id < spec.vocab.size(); ++id) {
    if (outside[id]) continue;
    tokens.emplace_back(spec.vocab[id], static_cast<std::int32_t>(id));
    bytes += spec.vocab[id].size();
  }
  if (bytes > kMaxTextBytes)
    throw Error(ErrorCode::kNotSupported, "a vocabulary of " + std::to_string(bytes) +
                                              " bytes; expected at most " +
                                              std::to_string(kMaxTextBytes));
  return tokens;
}

std::unique_ptr<WordModel> make_word_model(const TokenizerSpec& spec) {
  switch (spec.model) {
    case ModelKind::kBpe:
      return std::make_unique<Bpe>(spec);
    case ModelKind::kUnigram:
      return std::make_unique<Unigram>(spec);
    case ModelKind::kWordPiece:
      return std::make_unique<WordPiece>(spec);
  }
  return nullptr;
}

}  // namespace triescope::tokenizer

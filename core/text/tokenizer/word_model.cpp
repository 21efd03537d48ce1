#include "core/text/tokenizer/word_model.h"

#include "core/text/tokenizer/bpe.h"
#include "core/text/tokenizer/unigram.h"
#include "core/text/tokenizer/word_piece.h"

namespace triescope::tokenizer {

std::vector<std::pair<std::string_view, std::int32_t>> text_tokens(const TokenizerSpec& spec) {
  std::vector<bool> outside = spec.hidden;
  outside.resize(spec.vocab.size(), false);
  for (const AddedToken& token : spec.added)
    if (!token.in_model) outside[static_cast<std::size_t>(token.id)] = true;
  std::vector<std::pair<std::string_view, std::int32_t>> tokens;
  for (std::size_t id = 0; id < spec.vocab.size(); ++id)
    if (!outside[id]) tokens.emplace_back(spec.vocab[id], static_cast<std::int32_t>(id));
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

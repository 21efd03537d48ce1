// The whole tokenizer: added tokens, normaliser, pre-tokenizer, model of words, post-processor;
// decoder and chat template.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/added_tokens.h"
#include "core/text/tokenizer/byte_tokens.h"
#include "core/text/tokenizer/chat_template.h"
#include "core/text/tokenizer/decoders.h"
#include "core/text/tokenizer/growth.h"
#include "core/text/tokenizer/normalizer.h"
#include "core/text/tokenizer/pre_tokenizer.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "core/text/tokenizer/word_model.h"

namespace triescope {
namespace {

using tokenizer::AddedToken;
using tokenizer::AddedTokens;
using tokenizer::TokenizerSpec;

constexpr std::size_t kCachedWords = 100'000, kCachedWordBytes = 64;

class TextTokenizer final : public Tokenizer {
 public:
  explicit TextTokenizer(TokenizerSpec spec)
      : spec_(std::move(spec)),
        normalizer_(spec_.normalizer),
        pre_tokenizer_(spec_.pre_tokenizer),
        words_(tokenizer::make_word_model(spec_)),
        raw_(select(false), contents(false), spec_.split_special_tokens),
        normalized_(select(true), contents(true), spec_.split_special_tokens) {
    for (const AddedToken& token : spec_.added) {
      added_.insert(token.id);
      if (token.special) special_.insert(token.id);
    }
    user_defined_.insert(spec_.user_defined.begin(), spec_.user_defined.end());
    pieces_.reserve(spec_.vocab.size());
    for (std::size_t id = 0; id < spec_.vocab.size(); ++id)
      pieces_.push_back(make_piece(static_cast<std::int32_t>(id)));
    // A normalised added token is found by its normalised spelling and decodes to it.
    decoded_ = spec_.vocab;
    for (const AddedToken& token : spec_.added)
      if (token.was_normalized)
        decoded_[static_cast<std::size_t>(token.id)] = normalizer_.apply(token.content, true);
    if (!spec_.chat_template.empty())
      chat_ = std::make_unique<tokenizer::ChatTemplate>(spec_.chat_template, template_source());
  }

  std::vector<std::int32_t> encode(std::string_view text, bool add_special_tokens) const override {
    if (const std::size_t at = invalid_utf8_offset(text); at != std::string_view::npos)
      throw Error(ErrorCode::kInvalidArgument, "the text is not valid UTF-8 at byte " +
                                                   std::to_string(at) +
                                                   "; convert it to UTF-8 first");
    std::vector<std::int32_t> ids;
    if (add_special_tokens && !spec_.cannot_add.empty())
      throw Error(ErrorCode::kCorruption, spec_.cannot_add);
    if (add_special_tokens) ids = spec_.prefix_ids;
    Scratch scratch;
    std::size_t at = 0;
    for (const AddedTokens::Match& match : raw_.find(text)) {
      if (match.begin > at) encode_raw(text.substr(at, match.begin - at), at == 0, ids, scratch);
      ids.push_back(match.id);
      at = match.end;
    }
    encode_raw(text.substr(at), at == 0, ids, scratch);
    if (add_special_tokens) ids.insert(ids.end(), spec_.suffix_ids.begin(), spec_.suffix_ids.end());
    return ids;
  }

  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override {
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) {
      check(id);
      // tokenizers looks for the spelling among the special tokens' names, so a special token whose
      // normalised spelling differs stays.
      if (skip_special_tokens && is_special(id) &&
          decoded_[static_cast<std::size_t>(id)] == spec_.vocab[static_cast<std::size_t>(id)])
        continue;
      tokens.push_back(decoded_[static_cast<std::size_t>(id)]);
    }
    return tokenizer::decoded_text(std::move(tokens), spec_.decoder);
  }

  std::string_view piece(std::int32_t id) const override {
    check(id);
    return pieces_[static_cast<std::size_t>(id)];
  }
  int vocab_size() const override { return static_cast<int>(spec_.vocab.size()); }
  bool is_special(std::int32_t id) const override { return special_.count(id) != 0; }
  std::int32_t bos_token_id() const override { return spec_.bos_id; }
  const std::vector<std::int32_t>& eos_token_ids() const override { return spec_.eos_ids; }
  std::string description() const override { return spec_.description; }
  bool has_chat_template() const override { return chat_ != nullptr; }
  std::string apply_chat_template(const Conversation& conversation,
                                  bool add_generation_prompt) const override {
    if (!conversation.chat_template.empty())
      return tokenizer::ChatTemplate(conversation.chat_template, conversation.template_source)
          .render(conversation, add_generation_prompt, spec_.special_texts);
    if (!chat_)
      throw Error(ErrorCode::kNotSupported,
                  template_source() +
                      ": this model has no chat template; leave --chat out, or name "
                      "one with --chat-template FILE");
    return chat_->render(conversation, add_generation_prompt, spec_.special_texts);
  }

 private:
  struct CachedWord {
    std::uint32_t begin, count;  // in Scratch::cached
  };
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Scratch {
    std::vector<std::string> words;
    std::unordered_map<std::string, CachedWord, StringHash, std::equal_to<>>
        cache;  // words that this text contained so far
    std::vector<std::int32_t> cached;
    tokenizer::WordScratch word;
  };

  const std::string& template_source() const {
    return spec_.chat_template_source.empty() ? spec_.source : spec_.chat_template_source;
  }

  std::vector<AddedToken> select(bool normalized) const {
    std::vector<AddedToken> chosen;
    for (const AddedToken& token : spec_.added)
      if (token.normalized == normalized) chosen.push_back(token);
    return chosen;
  }
  // A normalised token is searched by its normalised spelling. SentencePiece's normaliser leaves
  // user-defined symbols as they are.
  std::vector<std::string> contents(bool normalized) const {
    constexpr std::size_t kMaxContents = 64u << 20;
    std::vector<std::string> texts;
    std::size_t total = 0;
    for (const AddedToken& token : select(normalized)) {
      const bool as_it_is = !normalized || spec_.sentencepiece;
      texts.push_back(as_it_is ? token.content : normalizer_.apply(token.content, true));
      total += texts.back().size();
      if (total > kMaxContents) tokenizer::refuse_growth();
    }
    return texts;
  }

  void encode_raw(std::string_view text, bool first, std::vector<std::int32_t>& ids,
                  Scratch& scratch) const {
    if (text.empty()) return;
    bool beginning_removed = false;
    const std::string clean = normalizer_.apply(text, first, &beginning_removed);
    first = first && !beginning_removed;
    const std::string_view view = clean;
    std::size_t at = 0;
    for (const AddedTokens::Match& match : normalized_.find(view)) {
      if (match.begin > at)
        encode_words(view.substr(at, match.begin - at), first && at == 0, ids, scratch);
      ids.push_back(match.id);
      at = match.end;
    }
    encode_words(view.substr(at), first && at == 0, ids, scratch);
  }

  void encode_words(std::string_view text, bool first, std::vector<std::int32_t>& ids,
                    Scratch& scratch) const {
    pre_tokenizer_.split(text, first, scratch.words);
    for (const std::string& word : scratch.words) {
      const std::string_view all = word;
      for (std::size_t at = 0, end; at < all.size(); at = end) {
        end = words_->piece_end(all, at);
        encode_piece(all.substr(at, end - at), ids, scratch);
      }
    }
  }

  void encode_piece(std::string_view piece, std::vector<std::int32_t>& ids,
                    Scratch& scratch) const {
    if (piece.size() > kCachedWordBytes) return words_->encode(piece, ids, scratch.word);
    const auto found = scratch.cache.find(piece);
    if (found != scratch.cache.end()) {
      const auto begin = scratch.cached.begin() + found->second.begin;
      ids.insert(ids.end(), begin, begin + found->second.count);
      return;
    }
    if (scratch.cache.size() >= kCachedWords) {
      scratch.cache.clear();
      scratch.cached.clear();
    }
    const auto before = static_cast<std::ptrdiff_t>(ids.size());
    words_->encode(piece, ids, scratch.word);
    scratch.cache.emplace(
        piece,
        CachedWord{static_cast<std::uint32_t>(scratch.cached.size()),
                   static_cast<std::uint32_t>(ids.size() - static_cast<std::size_t>(before))});
    scratch.cached.insert(scratch.cached.end(), ids.begin() + before, ids.end());
  }

  std::string make_piece(std::int32_t id) const {
    const std::string& token = spec_.vocab[static_cast<std::size_t>(id)];
    if (added_.count(id) != 0 && !user_defined_.contains(id)) return token;
    if (spec_.byte_level) return tokenizer::text_to_bytes(token);
    if (const int byte = tokenizer::byte_of(token); spec_.byte_fallback && byte >= 0)
      return std::string(1, static_cast<char>(byte));
    if (spec_.model == tokenizer::ModelKind::kWordPiece)
      return token.starts_with(spec_.continuing_prefix)
                 ? token.substr(spec_.continuing_prefix.size())
                 : " " + token;
    return tokenizer::replace_all(token, "\xE2\x96\x81", " ", token.size());
  }

  void check(std::int32_t id) const {
    if (id >= 0 && id < vocab_size()) return;
    throw Error(ErrorCode::kInvalidArgument, "token id " + std::to_string(id) +
                                                 " is outside the vocabulary: expected 0 to " +
                                                 std::to_string(vocab_size() - 1));
  }

  TokenizerSpec spec_;
  tokenizer::Normalizer normalizer_;
  tokenizer::PreTokenizer pre_tokenizer_;
  std::unique_ptr<tokenizer::WordModel> words_;
  AddedTokens raw_, normalized_;
  std::unordered_set<std::int32_t> special_, added_, user_defined_;
  std::vector<std::string> pieces_;   // by id: raw bytes
  std::vector<std::string> decoded_;  // by id: the decoder's input
  std::unique_ptr<tokenizer::ChatTemplate> chat_;
};

}  // namespace

std::unique_ptr<Tokenizer> tokenizer::make_tokenizer(TokenizerSpec spec) {
  for (const auto* ids : {&spec.prefix_ids, &spec.suffix_ids})
    for (const std::int32_t id : *ids)
      if (id < 0 || id >= static_cast<std::int64_t>(spec.vocab.size()))
        throw Error(ErrorCode::kCorruption, spec.source + ": post_processor adds the id " +
                                                std::to_string(id) + ", expected 0 to " +
                                                std::to_string(spec.vocab.size() - 1));
  const std::string source = spec.source;
  try {
    return std::make_unique<TextTokenizer>(std::move(spec));
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  }
}

}  // namespace triescope

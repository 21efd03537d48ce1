// The whole tokenizer: added tokens, normaliser, pre-tokenizer, BPE, post-processor; decoder and
// chat template.
#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/text/tokenizer/added_tokens.h"
#include "core/text/tokenizer/bpe.h"
#include "core/text/tokenizer/byte_alphabet.h"
#include "core/text/tokenizer/chat_template.h"
#include "core/text/tokenizer/pipeline.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope {
namespace {

using tokenizer::AddedToken;
using tokenizer::AddedTokens;
using tokenizer::DecoderStep;
using tokenizer::TokenizerSpec;

constexpr std::size_t kCachedWords = 100'000, kCachedWordBytes = 64;

// "<0xE2>" -> 0xE2; -1 = not a byte token.
int byte_of(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return -1;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

class BpeTokenizer final : public Tokenizer {
 public:
  explicit BpeTokenizer(TokenizerSpec spec)
      : spec_(std::move(spec)),
        pipeline_(spec_),
        bpe_(spec_),
        raw_(select(false), contents(false), spec_.split_special_tokens),
        normalized_(select(true), contents(true), spec_.split_special_tokens) {
    for (const AddedToken& token : spec_.added) {
      added_.insert(token.id);
      if (token.special) special_.insert(token.id);
    }
    pieces_.reserve(spec_.vocab.size());
    for (std::size_t id = 0; id < spec_.vocab.size(); ++id)
      pieces_.push_back(make_piece(static_cast<std::int32_t>(id)));
    // A normalised added token is found by its normalised spelling and decodes to it.
    decoded_ = spec_.vocab;
    for (const AddedToken& token : spec_.added)
      if (token.was_normalized)
        decoded_[static_cast<std::size_t>(token.id)] = pipeline_.normalize(token.content);
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
    if (spec_.decoder.empty()) {
      std::string text;
      for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
      return text;
    }
    const auto length = [&] {
      std::size_t sum = 0;
      for (const std::string& token : tokens) sum += token.size();
      return sum;
    };
    const std::size_t limit = tokenizer::growth_limit(length());
    for (const DecoderStep& step : spec_.decoder) {
      run(step, tokens, limit);
      if (length() > limit) tokenizer::refuse_growth();
    }
    std::string text;
    for (const std::string& token : tokens) text += token;
    return text;
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
  std::string apply_chat_template(std::span<const ChatMessage> messages,
                                  bool add_generation_prompt) const override {
    if (!chat_)
      throw Error(ErrorCode::kNotSupported,
                  template_source() + ": this model has no chat template; leave --chat out");
    return chat_->render(messages, add_generation_prompt, spec_.special_texts);
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
    tokenizer::Bpe::Scratch bpe;
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
  // A normalised token is searched by its normalised spelling.
  std::vector<std::string> contents(bool normalized) const {
    constexpr std::size_t kMaxContents = 64u << 20;
    std::vector<std::string> texts;
    std::size_t total = 0;
    for (const AddedToken& token : select(normalized)) {
      texts.push_back(normalized ? pipeline_.normalize(token.content) : token.content);
      total += texts.back().size();
      if (total > kMaxContents) tokenizer::refuse_growth();
    }
    return texts;
  }

  void encode_raw(std::string_view text, bool first, std::vector<std::int32_t>& ids,
                  Scratch& scratch) const {
    if (text.empty()) return;
    bool beginning_removed = false;
    const std::string clean = pipeline_.normalize(text, &beginning_removed);
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
    pipeline_.split(text, first, scratch.words);
    for (const std::string& word : scratch.words) {
      const std::string_view all = word;
      for (std::size_t at = 0, end; at < all.size(); at = end) {
        end = bpe_.piece_end(all, at);
        encode_piece(all.substr(at, end - at), ids, scratch);
      }
    }
  }

  void encode_piece(std::string_view piece, std::vector<std::int32_t>& ids,
                    Scratch& scratch) const {
    if (piece.size() > kCachedWordBytes) return bpe_.encode(piece, ids, scratch.bpe);
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
    bpe_.encode(piece, ids, scratch.bpe);
    scratch.cache.emplace(
        piece,
        CachedWord{static_cast<std::uint32_t>(scratch.cached.size()),
                   static_cast<std::uint32_t>(ids.size() - static_cast<std::size_t>(before))});
    scratch.cached.insert(scratch.cached.end(), ids.begin() + before, ids.end());
  }

  // Runs one decoder over the tokens. Source: tokenizers, decoders/*.
  void run(const DecoderStep& step, std::vector<std::string>& tokens, std::size_t limit) const {
    using Kind = DecoderStep::Kind;
    switch (step.kind) {
      case Kind::kReplace:
        for (std::string& token : tokens) {
          token = tokenizer::replace_all(token, step.pattern, step.content, limit);
          if (token.size() > limit) tokenizer::refuse_growth();
          limit -= token.size();
        }
        break;
      case Kind::kByteFallback: {
        std::vector<std::string> out;
        std::string bytes;
        const auto flush = [&] {
          if (bytes.empty()) return;
          if (invalid_utf8_offset(bytes) == std::string_view::npos) {
            out.push_back(bytes);
          } else {
            for (std::size_t i = 0; i < bytes.size(); ++i) out.emplace_back("\xEF\xBF\xBD");
          }
          bytes.clear();
        };
        for (std::string& token : tokens) {
          if (const int byte = byte_of(token); byte >= 0) {
            bytes += static_cast<char>(byte);
          } else {
            flush();
            out.push_back(std::move(token));
          }
        }
        flush();
        tokens = std::move(out);
        break;
      }
      case Kind::kFuse: {
        std::string text;
        for (const std::string& token : tokens) text += token;
        tokens.assign(1, std::move(text));
        break;
      }
      case Kind::kStrip:
        if (step.content.empty()) break;
        for (std::string& token : tokens) {
          std::size_t begin = 0, end = token.size();
          for (int i = 0;
               i < step.start && token.compare(begin, step.content.size(), step.content) == 0 &&
               begin < end;
               ++i)
            begin += step.content.size();
          for (int i = 0;
               i < step.stop && end >= begin + step.content.size() &&
               token.compare(end - step.content.size(), step.content.size(), step.content) == 0;
               ++i)
            end -= step.content.size();
          token = token.substr(begin, end - begin);
        }
        break;
      case Kind::kByteLevel: {
        std::string bytes;
        for (const std::string& token : tokens) bytes += tokenizer::text_to_bytes(token);
        tokens.assign(1, utf8_lossy(bytes));
        break;
      }
      case Kind::kMetaspace:
        // tokenizers drops all space signs at the start of the first token, not only one.
        for (std::size_t i = 0; i < tokens.size(); ++i)
          tokens[i] = tokenizer::replace_all(
              tokens[i], step.pattern, i == 0 && step.prepend_scheme != "never" ? "" : " ", limit);
        break;
    }
  }

  std::string make_piece(std::int32_t id) const {
    const std::string& token = spec_.vocab[static_cast<std::size_t>(id)];
    if (added_.count(id) != 0) return token;
    if (spec_.byte_level) return tokenizer::text_to_bytes(token);
    if (const int byte = byte_of(token); spec_.byte_fallback && byte >= 0)
      return std::string(1, static_cast<char>(byte));
    return tokenizer::replace_all(token, "\xE2\x96\x81", " ", token.size());
  }

  void check(std::int32_t id) const {
    if (id >= 0 && id < vocab_size()) return;
    throw Error(ErrorCode::kInvalidArgument, "token id " + std::to_string(id) +
                                                 " is outside the vocabulary: expected 0 to " +
                                                 std::to_string(vocab_size() - 1));
  }

  TokenizerSpec spec_;
  tokenizer::Pipeline pipeline_;
  tokenizer::Bpe bpe_;
  AddedTokens raw_, normalized_;
  std::unordered_set<std::int32_t> special_, added_;
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
    return std::make_unique<BpeTokenizer>(std::move(spec));
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  }
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (!fs::exists(path, ec))
    throw Error(
        ErrorCode::kNotFound,
        path + ": no such file or folder; expected a model folder, a tokenizer.json or a .gguf");
  if (fs::is_directory(path, ec)) return make_tokenizer(tokenizer::spec_from_directory(path));
  if (fs::path(path).extension() == ".json")
    return make_tokenizer(tokenizer::spec_from_json_file(path));
  return make_tokenizer(tokenizer::spec_from_gguf(path));
}

}  // namespace triescope

// TokenizerSpec: everything that defines a tokenizer, whatever file it came from. tokenizer.json
// and GGUF metadata both fill one. Source: Hugging Face `tokenizers` (the file format and its
// semantics).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace triescope {
class Tokenizer;
}
namespace triescope::formats {
class GgufFile;
}

namespace triescope::tokenizer {

struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
  bool in_model = true;  // it is also a token of the model itself
  bool was_normalized =
      false;  // it was added once with `normalized`, so it decodes to its normalised spelling
};

// What SentencePiece does with spaces (its NormalizerSpec), and what it leaves as it is.
struct SentencePieceSpaces {
  bool dummy_prefix = true;           // a space sign before the text
  bool every_section = false;         // also before what follows a special token
  bool as_suffix = false;             // the sign stands behind the text
  bool remove_extra = true;           // leading, trailing and repeated spaces go
  bool escape = true;                 // a space becomes U+2581
  std::vector<std::string> verbatim;  // user-defined symbols
};

// BertNormalizer's switches.
struct BertCleaning {
  bool clean_text = true, chinese_characters = true, strip_accents = false, lowercase = true;
};

struct NormalizerStep {
  enum class Kind : std::uint8_t {
    kPrepend,
    kReplace,
    kReplaceRegex,
    kNfc,
    kNfd,
    kNfkc,
    kNfkd,
    kLowercase,
    kStrip,
    kStripAccents,   // NFD is a step of its own
    kPrecompiled,    // content: a charsmap (charsmap.h), as `tokenizers` applies it
    kSentencePiece,  // SentencePiece's normaliser: `spaces`, content: a charsmap or ""
    kBert            // `bert`
  };
  Kind kind = Kind::kPrepend;
  std::string pattern, content;
  bool left = false, right = false;  // kStrip
  SentencePieceSpaces spaces = {};   // kSentencePiece
  BertCleaning bert = {};            // kBert
};

enum class SplitBehavior : std::uint8_t {
  kIsolated,
  kRemoved,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

struct PreTokenizerStep {
  enum class Kind : std::uint8_t { kSplit, kByteLevel, kDigits, kMetaspace, kPunctuation };
  Kind kind = Kind::kSplit;
  std::string pattern;  // kSplit: a regular expression (literals are escaped by the reader)
  SplitBehavior behavior = SplitBehavior::kIsolated;  // kSplit, kPunctuation
  bool invert = false;
  bool add_prefix_space = false, use_regex = true;  // kByteLevel
  bool individual_digits = false;                   // kDigits
  std::string replacement = "\xE2\x96\x81";         // kMetaspace
  std::string prepend_scheme = "always";            // "always", "first", "never"
  bool split = true;
};

struct DecoderStep {
  enum class Kind : std::uint8_t {
    kReplace,
    kByteFallback,
    kFuse,
    kStrip,
    kByteLevel,
    kMetaspace,
    kWordPiece
  };
  Kind kind = Kind::kFuse;
  std::string pattern, content;  // kWordPiece: pattern is the prefix of what continues a word
  int start = 0, stop = 0;       // kStrip
  std::string prepend_scheme = "always";
  bool cleanup = true;  // kWordPiece: no space before punctuation and contractions
};

enum class ModelKind : std::uint8_t { kBpe, kUnigram, kWordPiece };

struct TokenizerSpec {
  std::string source;  // file, for messages
  ModelKind model = ModelKind::kBpe;
  std::vector<std::string> vocab;  // by id; "" where an id is unused
  // Merges in order of rank: left, right (token texts), and the id of the result.
  struct Merge {
    std::int32_t left, right, result;
  };
  std::vector<Merge> merges;
  std::vector<std::int32_t> merge_ranks;  // of each merge, where some are equal; empty: their order
  std::vector<double> scores;             // kUnigram: log p by id
  // The file is SentencePiece's own: its arithmetic, and what its pieces' types say.
  bool sentencepiece = false;
  std::vector<bool> hidden;  // by id: no text becomes this token by itself; empty: none is hidden
  std::vector<std::int32_t> user_defined;  // always one token, wherever a text contains it
  std::string continuing_prefix = "##";    // kWordPiece
  std::size_t max_word_characters = 100;   // kWordPiece: a longer word is unknown
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::vector<DecoderStep> decoder;
  std::vector<std::int32_t> prefix_ids, suffix_ids;  // added by the post-processor
  // The reason, for the message, why these cannot be added; "": they can. A text is then refused,
  // ids are not.
  std::string cannot_add;
  bool byte_level = false;     // the vocabulary is spelt in the byte-level alphabet
  bool byte_fallback = false;  // <0xNN> tokens stand for what the vocabulary lacks
  bool ignore_merges = false;  // a word that is a token stays that token
  bool fuse_unk = false;
  std::int32_t unk_id = -1;
  std::int32_t bos_id = -1;
  std::vector<std::int32_t> eos_ids;
  // Special tokens by their names in chat templates: "bos_token", "image_token".
  std::vector<std::pair<std::string, std::string>> special_texts;
  std::string chat_template;          // "" = none
  std::string chat_template_source;   // the file that contains it, for messages
  bool split_special_tokens = false;  // a special token written in the text is text like any other
  std::string description;
};

// "byte-level BPE", "BPE", "Unigram", "WordPiece".
std::string model_name(const TokenizerSpec& spec);

// Far above every real tokenizer. Longer tokens would make reading the vocabulary slow: the time to
// find merges grows with the square of a token's length.
inline constexpr std::size_t kMaxTokenBytes = 1024;
inline constexpr std::size_t kMaxSteps = 64;  // for normalizer, pre-tokenizer and decoder each
inline constexpr std::size_t kMaxPatternBytes = 16 << 10;  // for a regular expression

// The readers. Errors: kNotFound, kCorruption (file, place, expected, found), kNotSupported (names
// the construct). spec_from_directory reads tokenizer.json and the files beside it, or vocab.json
// with merges.txt, or tokenizer.model; spec_from_json_file reads a tokenizer.json alone,
// spec_from_sentencepiece a tokenizer.model.
TokenizerSpec spec_from_directory(const std::string& path);
TokenizerSpec spec_from_json_file(const std::string& path);
TokenizerSpec spec_from_json(std::string_view text, const std::string& source);
TokenizerSpec spec_from_sentencepiece_file(const std::string& path);
TokenizerSpec spec_from_sentencepiece(std::string_view bytes, const std::string& source);
TokenizerSpec spec_from_gguf(const std::string& path);
TokenizerSpec spec_from_gguf(const formats::GgufFile& file);

// Error{kCorruption}: the spec contradicts itself; {kNotSupported}: a step is unknown.
std::unique_ptr<Tokenizer> make_tokenizer(TokenizerSpec spec);

using TokenIds = std::unordered_map<std::string, std::int32_t>;
// nullopt: one of the three tokens does not exist.
std::optional<TokenizerSpec::Merge> merge_of(const std::string& left, const std::string& right,
                                             const TokenIds& ids);
// Reads "left right", as older files write merges. If tokens contain spaces themselves, the first
// split that makes sense is taken.
std::optional<TokenizerSpec::Merge> split_merge(const std::string& text, const TokenIds& ids);

// The regular expressions of GPT-2's byte-level pre-tokenizer and of the GGUF pre types.
extern const char* const kGpt2Regex;
extern const char* const kLlama3Regex;
extern const char* const kQwen2Regex;
extern const char* const kTekkenRegex;
extern const char* const kSeedRegex;
extern const char* const kGpt4oRegex;

}  // namespace triescope::tokenizer

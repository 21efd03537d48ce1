#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

const char* const kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const char* const kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kSeedRegex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kTekkenRegex =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const char* const kGpt4oRegex =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string model_name(const TokenizerSpec& spec) {
  switch (spec.model) {
    case ModelKind::kBpe:
      return spec.byte_level ? "byte-level BPE" : "BPE";
    case ModelKind::kUnigram:
      return "Unigram";
    case ModelKind::kWordPiece:
      return "WordPiece";
  }
  return "";
}

std::optional<TokenizerSpec::Merge> merge_of(const std::string& left, const std::string& right,
                                             const TokenIds& ids) {
  const auto l = ids.find(left), r = ids.find(right), result = ids.find(left + right);
  if (l == ids.end() || r == ids.end() || result == ids.end()) return std::nullopt;
  return TokenizerSpec::Merge{l->second, r->second, result->second};
}

std::optional<TokenizerSpec::Merge> split_merge(const std::string& text, const TokenIds& ids) {
  if (text.size() > 2 * kMaxTokenBytes + 1) return std::nullopt;
  for (std::size_t space = text.find(' ', 1); space != std::string::npos;
       space = text.find(' ', space + 1))
    if (ids.contains(text.substr(0, space)))
      if (const auto merge = merge_of(text.substr(0, space), text.substr(space + 1), ids))
        return merge;
  return std::nullopt;
}

}  // namespace triescope::tokenizer

// Implements StreamDecoder (tokenizer.h).
#include <cstddef>
#include <string>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens)
    : tokenizer_(tokenizer), skip_special_tokens_(skip_special_tokens) {}

namespace {

// The part of `text` that follows what was given out. A decoder may rewrite that (a run of byte
// tokens that turns out not to be UTF-8), but what was given out cannot be taken back.
std::string after(const std::string& given, const std::string& text) {
  std::size_t same = 0;
  while (same < given.size() && same < text.size() && given[same] == text[same]) ++same;
  while (same > 0 && same < text.size() && (static_cast<unsigned char>(text[same]) & 0xC0) == 0x80)
    --same;
  return text.substr(same);
}

}  // namespace

// Decodes a window of ids again with the newest one and gives out what is new at its end. The
// window begins a few tokens back, so that a decoder which treats the first token differently (a
// stripped space) does so only once.
std::string StreamDecoder::push(std::int32_t id) {
  ids_.push_back(id);
  const std::string text = tokenizer_.decode(ids_, skip_special_tokens_);
  // Replacement characters at the end may become a real character with the next tokens, unless they
  // are more than one character needs.
  constexpr std::string_view kBroken = "\xEF\xBF\xBD";
  constexpr std::size_t kHeldTokens = 16, kWindow = 24, kKept = 8;
  if (text.ends_with(kBroken) && ++held_ < kHeldTokens) return "";
  held_ = 0;
  std::string fresh = after(emitted_, text);
  emitted_ = text;
  if (ids_.size() > kWindow) {
    // Begins the window later, if decoding the rest alone gives the end of the same text.
    std::vector<std::int32_t> rest(ids_.end() - kKept, ids_.end());
    std::string tail = tokenizer_.decode(rest, skip_special_tokens_);
    if (text.ends_with(tail)) {
      ids_ = std::move(rest);
      emitted_ = std::move(tail);
    }
  }
  return fresh;
}

std::string StreamDecoder::finish() {
  const std::string text = tokenizer_.decode(ids_, skip_special_tokens_);
  std::string fresh = after(emitted_, text);
  emitted_ = text;
  return fresh;
}

}  // namespace triescope

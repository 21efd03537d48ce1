#include "core/text/tokenizer/decoders.h"

#include <utility>

#include "core/base/unicode.h"
#include "core/text/tokenizer/byte_tokens.h"
#include "core/text/tokenizer/growth.h"

namespace triescope::tokenizer {
namespace {

using DecodeKind = DecoderStep::Kind;

// Runs of byte tokens become text, or U+FFFD for each byte where they are none.
void join_bytes(std::vector<std::string>& tokens) {
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
}

void strip(const DecoderStep& step, std::string& token) {
  std::size_t begin = 0, end = token.size();
  const std::size_t size = step.content.size();
  for (int i = 0; i < step.start && token.compare(begin, size, step.content) == 0 && begin < end;
       ++i)
    begin += size;
  for (int i = 0;
       i < step.stop && end >= begin + size && token.compare(end - size, size, step.content) == 0;
       ++i)
    end -= size;
  token = token.substr(begin, end - begin);
}

// No space before punctuation and in contractions, in this order.
std::string cleaned_up(std::string token) {
  static constexpr std::pair<const char*, const char*> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [pattern, content] : kRules)
    token = replace_all(token, pattern, content, token.size());
  return token;
}

// Runs one decoder over the tokens.
void run(const DecoderStep& step, std::vector<std::string>& tokens, std::size_t limit) {
  switch (step.kind) {
    case DecodeKind::kReplace:
      for (std::string& token : tokens) {
        token = replace_all(token, step.pattern, step.content, limit);
        if (token.size() > limit) refuse_growth();
        limit -= token.size();
      }
      break;
    case DecodeKind::kByteFallback:
      join_bytes(tokens);
      break;
    case DecodeKind::kFuse: {
      std::string text;
      for (const std::string& token : tokens) text += token;
      tokens.assign(1, text);
      break;
    }
    case DecodeKind::kStrip:
      if (step.content.empty()) break;
      for (std::string& token : tokens) strip(step, token);
      break;
    case DecodeKind::kByteLevel: {
      std::string bytes;
      for (const std::string& token : tokens) bytes += text_to_bytes(token);
      tokens.assign(1, utf8_lossy(bytes));
      break;
    }
    case DecodeKind::kMetaspace:
      // tokenizers drops all space signs at the start of the first token, not only one.
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = replace_all(tokens[i], step.pattern,
                                i == 0 && step.prepend_scheme != "never" ? "" : " ", limit);
      break;
    case DecodeKind::kWordPiece:
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string& token = tokens[i];
        if (i > 0)
          token = token.starts_with(step.pattern) ? token.substr(step.pattern.size()) : " " + token;
        if (step.cleanup) token = cleaned_up(token);
      }
      break;
  }
}

std::size_t length(const std::vector<std::string>& tokens) {
  std::size_t sum = 0;
  for (const std::string& token : tokens) sum += token.size();
  return sum;
}

}  // namespace

std::string decoded_text(std::vector<std::string> tokens, const std::vector<DecoderStep>& steps) {
  std::string text;
  if (steps.empty()) {
    for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
    return text;
  }
  const std::size_t limit = growth_limit(length(tokens));
  for (const DecoderStep& step : steps) {
    run(step, tokens, limit);
    if (length(tokens) > limit) refuse_growth();
  }
  for (const std::string& token : tokens) text += token;
  return text;
}

}  // namespace triescope::tokenizer

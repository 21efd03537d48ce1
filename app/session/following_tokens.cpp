#include "app/session/following_tokens.h"

#include "core/base/error.h"

namespace triescope::app {

std::vector<std::int32_t> following_tokens(const Tokenizer* tokenizer, const std::string& text) {
  if (tokenizer == nullptr || !tokenizer->encodes_text() || text.empty()) return {};
  try {
    return tokenizer->encode(text, /*add_special_tokens=*/false);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace triescope::app

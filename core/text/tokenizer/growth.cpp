#include "core/text/tokenizer/growth.h"

#include "core/base/error.h"

namespace triescope::tokenizer {

void refuse_growth() {
  throw Error(ErrorCode::kNotSupported,
              "the tokenizer makes a text more than 64 times longer, which no real one does");
}

std::string replace_all(std::string_view text, const std::string& pattern,
                        const std::string& content, std::size_t limit) {
  if (pattern.empty()) return std::string(text);
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(pattern, at)) != std::string_view::npos;
       at = found + pattern.size()) {
    out.append(text, at, found - at);
    out += content;
    if (out.size() > limit) refuse_growth();
  }
  out.append(text, at);
  return out;
}

}  // namespace triescope::tokenizer

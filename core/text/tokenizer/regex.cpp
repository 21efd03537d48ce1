#include "core/text/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstring>

#include "core/base/error.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {
namespace {

constexpr const char* kSpaceClass =
    "\\t-\\r\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}"
    "\\x{3000}";
constexpr std::uint32_t kMatchLimit = 1'000'000, kDepthLimit = 100'000;
// for the interpreter; PCRE2's own limit is 20 GB
constexpr std::uint32_t kHeapLimitKib = 64 << 10;

// PCRE2's \s contains U+180E, which is not white space since Unicode 6.3.
std::string with_unicode_spaces(const std::string& pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        out += in_class ? kSpaceClass : std::string("[") + kSpaceClass + "]";
      } else if (next == 'S' && !in_class) {
        out += std::string("[^") + kSpaceClass + "]";
      } else {
        out += c;
        out += next;
      }
      continue;
    }
    if (c == '[' && !in_class)
      in_class = true;
    else if (c == ']' && in_class)
      in_class = false;
    out += c;
  }
  return out;
}

}  // namespace

struct Regex::Impl {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
  std::string pattern;
  ~Impl() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

Regex::Regex(const std::string& pattern) : impl_(std::make_unique<Impl>()) {
  if (pattern.size() > kMaxPatternBytes)
    throw Error(ErrorCode::kNotSupported,
                "a regular expression of more than " + std::to_string(kMaxPatternBytes) + " bytes");
  const std::string translated = with_unicode_spaces(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  impl_->pattern = pattern;
  impl_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    // \\C would match half a character.
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (!impl_->code) {
    char message[256] = {};
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
    throw Error(ErrorCode::kNotSupported,
                "the regular expression " + pattern.substr(0, 200) + " cannot be used: " + message);
  }
  pcre2_jit_compile(impl_->code, PCRE2_JIT_COMPLETE);  // if it fails, the interpreter is used
  impl_->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(impl_->context, kMatchLimit);
  pcre2_set_depth_limit(impl_->context, kDepthLimit);
  pcre2_set_heap_limit(impl_->context, kHeapLimitKib);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::find_all(std::string_view text,
                     std::vector<std::pair<std::size_t, std::size_t>>& out) const {
  out.clear();
  struct Data {
    pcre2_match_data* data;
    ~Data() { pcre2_match_data_free(data); }
  } match{pcre2_match_data_create_from_pattern(impl_->code, nullptr)};
  std::size_t at = 0;
  while (at <= text.size()) {
    const int count = pcre2_match(impl_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, PCRE2_NO_UTF_CHECK, match.data, impl_->context);
    if (count == PCRE2_ERROR_NOMATCH) return;
    if (count < 0)
      throw Error(ErrorCode::kNotSupported, "matching " + impl_->pattern.substr(0, 200) +
                                                " needs too much time or memory on this text");
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.data);
    // \K can move a match's beginning anywhere; one that moves back would never end.
    if (range[0] < at || range[1] < at)
      throw Error(ErrorCode::kNotSupported,
                  "matching " + impl_->pattern.substr(0, 200) + " goes backwards");
    if (range[1] > range[0]) {
      out.emplace_back(range[0], range[1]);
      at = range[1];
    } else {
      at = range[1] + 1;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    }
  }
}

std::string Regex::escape(const std::string& literal) {
  std::string out;
  for (const char c : literal) {
    if (std::strchr("\\^$.[]|()?*+{}-#&~", c) && c != '\0') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace triescope::tokenizer

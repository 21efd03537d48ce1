#include "core/text/tokenizer/bert_text.h"

#include "core/base/unicode.h"
#include "core/text/tokenizer/character_classes.h"
#include "core/text/tokenizer/unicode_form.h"

namespace triescope::tokenizer {
namespace {

template <class Change>
std::string changed(std::string_view text, const Change& change) {
  std::string out;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    length = utf8_step(text, at);
    change(decode_utf8(text, at), text.substr(at, length), out);
  }
  return out;
}

bool is_chinese(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
         (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

}  // namespace

std::string bert_form(std::string_view given, const BertCleaning& cleaning) {
  std::string text(given);
  if (cleaning.clean_text)
    text = changed(text, [](char32_t code, std::string_view bytes, std::string& out) {
      if (is_control(code)) return;
      if (is_whitespace(code))
        out += ' ';
      else
        out += bytes;
    });
  if (cleaning.chinese_characters)
    text = changed(text, [](char32_t code, std::string_view bytes, std::string& out) {
      const char* const space = is_chinese(code) ? " " : "";
      out.append(space).append(bytes).append(space);
    });
  if (cleaning.strip_accents)
    text = changed(unicode_form(text, UnicodeForm::kNfd),
                   [](char32_t code, std::string_view bytes, std::string& out) {
                     if (!is_nonspacing_mark(code)) out += bytes;
                   });
  return cleaning.lowercase ? lowercase(text) : text;
}

std::string without_marks(std::string_view text) {
  return changed(text, [](char32_t code, std::string_view bytes, std::string& out) {
    if (!is_mark(code)) out += bytes;
  });
}

}  // namespace triescope::tokenizer

#include "core/text/tokenizer/normalizer.h"

#include <utility>

#include "core/base/unicode.h"
#include "core/text/tokenizer/character_classes.h"
#include "core/text/tokenizer/growth.h"
#include "core/text/tokenizer/unicode_form.h"

namespace triescope::tokenizer {
namespace {

using FormKind = NormalizerStep::Kind;

std::string replaced(const std::string& text, const Regex& regex, const std::string& content,
                     std::size_t limit) {
  std::vector<std::pair<std::size_t, std::size_t>> matches;
  regex.find_all(text, matches);
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, end] : matches) {
    out.append(text, at, begin - at);
    out += content;
    if (out.size() > limit) refuse_growth();
    at = end;
  }
  out.append(text, at);
  return out;
}

// `text`, which is valid UTF-8, with every character handed to change(code, bytes, out).
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

// BERT's normaliser, as in `tokenizers` (normalizers/bert): control characters gone, white space to spaces,
// spaces around Chinese characters, marks without width gone, lower case, each where it is switched on.
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

// Without combining marks: StripAccents (normalizers/strip).
std::string without_marks(std::string_view text) {
  return changed(text, [](char32_t code, std::string_view bytes, std::string& out) {
    if (!is_mark(code)) out += bytes;
  });
}

}  // namespace

Normalizer::Normalizer(const std::vector<NormalizerStep>& steps) : steps_(steps) {
  for (const NormalizerStep& step : steps_) {
    if (step.kind == FormKind::kReplaceRegex) regexes_.emplace_back(step.pattern);
    if (step.kind == FormKind::kPrecompiled) maps_.emplace_back(step.content);
    if (step.kind == FormKind::kSentencePiece) forms_.emplace_back(step.spaces, step.content);
  }
}

std::string Normalizer::apply(std::string_view given, bool first, bool* beginning_removed) const {
  std::string text(given);
  const std::size_t limit = growth_limit(given.size());
  std::size_t regex = 0, map = 0, form = 0;
  for (const NormalizerStep& step : steps_) {
    if (text.size() > limit) refuse_growth();
    switch (step.kind) {
      case FormKind::kPrepend:
        if (!text.empty()) text.insert(0, step.content);
        break;
      case FormKind::kReplace:
        text = replace_all(text, step.pattern, step.content, limit);
        break;
      case FormKind::kReplaceRegex:
        text = replaced(text, regexes_[regex++], step.content, limit);
        break;
      case FormKind::kNfc:
        text = unicode_form(text, UnicodeForm::kNfc);
        break;
      case FormKind::kNfd:
        text = unicode_form(text, UnicodeForm::kNfd);
        break;
      case FormKind::kNfkc:
        text = unicode_form(text, UnicodeForm::kNfkc);
        break;
      case FormKind::kNfkd:
        text = unicode_form(text, UnicodeForm::kNfkd);
        break;
      case FormKind::kLowercase:
        text = lowercase(text);
        break;
      case FormKind::kStrip:
        if (beginning_removed && step.left && !text.empty() && is_whitespace(decode_utf8(text, 0)))
          *beginning_removed = true;
        text = stripped_of_space(text, step.left, step.right);
        break;
      case FormKind::kStripAccents:
        if (beginning_removed && !text.empty() && is_mark(decode_utf8(text, 0)))
          *beginning_removed = true;
        text = without_marks(text);
        break;
      case FormKind::kPrecompiled:
        text = precompiled_form(text, maps_[map++], limit);
        break;
      case FormKind::kSentencePiece:
        text = forms_[form++].apply(text, first, limit);
        break;
      case FormKind::kBert:
        text = bert_form(text, step.bert);
        break;
    }
  }
  return text;
}

}  // namespace triescope::tokenizer

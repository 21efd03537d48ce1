// Classes of characters as `tokenizers` has them, whose tables are those of Unicode 8 and 9: newer
// characters are in none. No state.
#pragma once

namespace triescope::tokenizer {

bool is_punctuation(char32_t code);      // ASCII's signs and Unicode's punctuation
bool is_control(char32_t code);          // what BertNormalizer removes to clean a text
bool is_nonspacing_mark(char32_t code);  // what it removes with strip_accents
bool is_mark(char32_t code);             // what StripAccents removes

}  // namespace triescope::tokenizer

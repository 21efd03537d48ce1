// What BERT's normaliser and StripAccents do to characters, as in `tokenizers` (normalizers/bert,
// normalizers/strip). Texts are valid UTF-8. No state.
#pragma once

#include <string>
#include <string_view>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// Control characters gone, white space to spaces, spaces around Chinese characters, marks without
// width gone, lower case: each where it is switched on.
std::string bert_form(std::string_view text, const BertCleaning& cleaning);
// Without combining marks (the normaliser StripAccents).
std::string without_marks(std::string_view text);

}  // namespace triescope::tokenizer

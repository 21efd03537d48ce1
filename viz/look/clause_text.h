// A sentence that has too little room loses its last clauses, never half a number or half a word.
#pragma once

#include <string>
#include <string_view>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// The longest beginning of `text` that ends before a clause ("; …", ", …", " (…)", ": …") and fits
// `width` px with the sign that more was said; all of it where that fits. Tokens in single quotes and
// what stands in parentheses is not taken apart. Where not even the first clause fits, its letters.
std::string clauses_in(Canvas& canvas, std::string_view text, const TextStyle& style, float width);

}  // namespace triescope::viz

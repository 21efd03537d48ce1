// Shortens a sentence that has too little room by its last clauses, never by half a number or half
// a word.
#pragma once

#include <string>
#include <string_view>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// The longest beginning of `text` that ends before a clause ("; …", ", …", " (…)", ": …") and fits
// into `width` px with the sign that more was said; the whole text if it fits. Tokens in single
// quotes and text in parentheses stay whole. If not even the first clause fits, its first letters.
std::string clauses_in(Canvas& canvas, std::string_view text, const TextStyle& style, float width);

}  // namespace triescope::viz

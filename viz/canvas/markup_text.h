// Text for the content of an XML or HTML element.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// UTF-8 with '&', '<' and '>' escaped. Control characters other than line breaks and tabs become
// spaces, because XML 1.0 cannot write them. Not for attributes: quotes stay as they are.
std::string markup_text(std::string_view text);

}  // namespace triescope::viz

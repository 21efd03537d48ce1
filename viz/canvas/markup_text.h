// Text for the content of an XML or HTML element.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// UTF-8. '&', '<' and '>' escaped; control characters, which XML 1.0 has no way to write, become
// spaces, but for line breaks and tabs. Not for attributes: quotes stay as they are.
std::string markup_text(std::string_view text);

}  // namespace triescope::viz

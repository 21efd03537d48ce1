// The page of a handout: the data, and the style and scripts of assets/handout around it. The page's
// content security policy names the hashes of its own style and script: no other script runs, nothing is
// fetched, nothing is sent.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// `title` is plain text; `data` is JSON whose texts were written by json_text().
std::string handout_page(std::string_view title, std::string_view data);

}  // namespace triescope::viz

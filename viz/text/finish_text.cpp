#include "viz/text/finish_text.h"

namespace triescope::viz {

std::string finish_text(std::string_view finish) {
  if (finish == "eos") return "end-of-sequence token";
  if (finish == "length") return "max_new_tokens reached";
  if (finish == "stopped") return "stopped before its end";
  return std::string(finish);
}

}  // namespace triescope::viz

#include "viz/text/spoken_text.h"

namespace triescope::viz {

std::string count_text(std::int64_t count) {
  static constexpr const char* kWords[] = {"zero", "one",   "two",   "three", "four", "five",
                                           "six",  "seven", "eight", "nine",  "ten"};
  if (count >= 0 && count <= 10) return kWords[count];
  const std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

const char* before_item(std::size_t index, std::size_t size) {
  return index == 0 ? "" : index + 1 == size ? " and " : ", ";
}

std::string finish_text(std::string_view finish) {
  if (finish == "eos") return "end-of-sequence token";
  if (finish == "length") return "max_new_tokens reached";
  if (finish == "stopped") return "stopped before its end";
  return std::string(finish);
}

}  // namespace triescope::viz

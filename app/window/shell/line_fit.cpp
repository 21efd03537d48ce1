#include "app/window/shell/line_fit.h"

#include <algorithm>

namespace triescope::app {

std::string parts_that_fit(std::span<const LinePart> parts, const std::string& between, float room,
                           const MeasureLine& measure) {
  std::vector<LinePart> kept(parts.begin(), parts.end());
  while (true) {
    std::string line;
    for (const LinePart& part : kept) line += (line.empty() ? "" : between) + part.text;
    if (kept.size() <= 1 || measure(line) <= room) return line;
    // The last one of those that matter least.
    const auto least =
        std::max_element(kept.rbegin(), kept.rend(),
                         [](const LinePart& a, const LinePart& b) { return a.rank < b.rank; });
    kept.erase(std::next(least).base());
  }
}

std::string wording_that_fits(std::span<const std::string> wordings, float room,
                              const MeasureLine& measure) {
  for (const std::string& wording : wordings)
    if (measure(wording) <= room) return wording;
  return "";
}

std::string words_that_fit(const std::string& text, float room, const MeasureLine& measure) {
  if (measure(text) <= room) return text;
  std::size_t end = text.size();
  while (true) {
    end = end == 0 ? std::string::npos : text.find_last_of(" \n", end - 1);
    if (end == std::string::npos) return "";
    const std::size_t last = text.find_last_not_of(" \n,;:|(", end);
    if (last == std::string::npos) return "";
    const std::string line = text.substr(0, last + 1) + " …";
    if (measure(line) <= room) return line;
    end = last + 1;
  }
}

}  // namespace triescope::app

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/window/shell/line_fit.h"

namespace triescope::app::test_line_fit {
namespace {

// A px a byte.
float width(const std::string& text) { return static_cast<float>(text.size()); }

TEST_CASE(
    "line fit: a line of parts leaves out whole parts, the least important first, and keeps one") {
  const std::vector<LinePart> parts = {
      {"recorded", 3}, {"greedy", 1}, {"KV recycle", 4}, {"accepted 4 of 6", 0}, {"step 9", 2}};
  const auto fitted = [&](float room) { return parts_that_fit(parts, " | ", room, width); };
  CHECK(fitted(100) == "recorded | greedy | KV recycle | accepted 4 of 6 | step 9");
  CHECK(fitted(50) == "recorded | greedy | accepted 4 of 6 | step 9");
  CHECK(fitted(40) == "greedy | accepted 4 of 6 | step 9");
  CHECK(fitted(30) == "greedy | accepted 4 of 6");
  CHECK(fitted(20) == "accepted 4 of 6");
  CHECK(fitted(3) == "accepted 4 of 6");
  CHECK(parts_that_fit({}, " | ", 10, width).empty());
  const std::vector<LinePart> equal = {{"a", 1}, {"bb", 1}, {"cc", 1}};
  CHECK(parts_that_fit(equal, ",", 4, width) == "a,bb");
}

TEST_CASE("line fit: of several wordings the longest that fits is taken") {
  const std::vector<std::string> wordings = {"12 differences, the first at token 34", "12, at 34",
                                             "12"};
  CHECK(wording_that_fits(wordings, 100, width) == wordings[0]);
  CHECK(wording_that_fits(wordings, 20, width) == wordings[1]);
  CHECK(wording_that_fits(wordings, 2, width) == "12");
  CHECK(wording_that_fits(wordings, 1, width).empty());
}

TEST_CASE("line fit: a text is cut between words, at every width") {
  const std::string text = "exported 12 pictures, all of them (two were larger) to a folder";
  for (int px = 0; px < 70; ++px) {
    const auto room = static_cast<float>(px);
    CAPTURE(room);
    const std::string cut = words_that_fit(text, room, width);
    CHECK(width(cut) <= room);
    if (cut.empty() || cut == text) continue;
    REQUIRE(cut.ends_with(" …"));
    const std::string words = cut.substr(0, cut.size() - std::string(" …").size());
    CHECK(text.starts_with(words));
    CHECK(std::string(" ,(").find(text[words.size()]) != std::string::npos);
    CHECK(std::string(" ,(").find(words.back()) == std::string::npos);
  }
  CHECK(words_that_fit(text, 63, width) == text);
  CHECK(words_that_fit("unbreakable", 5, width).empty());
  CHECK(words_that_fit("first line\nsecond", 15, width) == "first line …");
}

}  // namespace
}  // namespace triescope::app::test_line_fit

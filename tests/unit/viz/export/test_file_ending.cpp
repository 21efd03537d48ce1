// Names of exported files: an ending that belongs to another format is refused, any other is taken.
#include <doctest/doctest.h>

#include <string>

#include "core/base/error.h"
#include "viz/export/file_ending.h"

namespace triescope::test::test_file_ending {
namespace {

std::string refusal(const std::string& path, const char* format) {
  try {
    viz::check_file_ending(path, format);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST_CASE("file endings: a name that ends as another format's files do is refused with both ways") {
  CHECK(refusal("out/x.png", "svg") ==
        "out/x.png: expected a name that ends in .svg, for the format svg; found .png. Take the "
        "format png, or the name out/x.svg");
  CHECK(refusal("x.PDF", "csv").find("Take the format pdf, or the name x.csv") !=
        std::string::npos);
  CHECK_FALSE(refusal("run.svg", "html").empty());
  CHECK_FALSE(refusal("run.gif", "png-frames").empty());
}

TEST_CASE("file endings: a format's own endings are taken, and those that no format has") {
  for (const char* format : {"svg", "pdf", "png", "csv", "gif", "png-frames", "html", "jsonl"}) {
    CAPTURE(format);
    CHECK(refusal("x" + std::string(viz::ending_of(format)), format).empty());
    for (const char* name : {"x", "-", "x.txt", "a.png/x", "/dev/stdout", ".png", ""})
      CHECK(refusal(name, format).empty());
  }
  CHECK(refusal("x.htm", "html").empty());
  CHECK(refusal("x.SVG", "svg").empty());
  CHECK(refusal("x.png", "no such format").empty());  // that is refused elsewhere, with the list
}

TEST_CASE("file endings: a typed name follows the format") {
  CHECK(viz::with_ending_of("a/x.png", "svg") == "a/x.svg");
  CHECK(viz::with_ending_of("a/x.svg", "svg") == "a/x.svg");
  CHECK(viz::with_ending_of("a/x.v2", "svg") == "a/x.v2");
  CHECK(viz::with_ending_of("a/x", "svg") == "a/x");
}

}  // namespace
}  // namespace triescope::test::test_file_ending

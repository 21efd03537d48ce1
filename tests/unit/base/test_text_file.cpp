#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "tests/support/paths.h"

namespace triescope::test_text_file {
namespace {

TEST_CASE("text file: it is read to its end, a pipe too, an empty one as nothing") {
  const test::TempDir folder;
  const std::string file = folder.path() / "file", pipe = folder.path() / "pipe";
  const std::string text = std::string(200'000, 'x') + "\r\nend";
  std::ofstream(file, std::ios::binary) << text;
  CHECK(read_text_file(file, "a text") == text);
  std::ofstream(file, std::ios::binary | std::ios::trunc).flush();
  CHECK(read_text_file(file, "a text").empty());
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
  CHECK(read_text_file(pipe, "a text") == text);
  writer.join();
}

TEST_CASE("text file: a byte order mark is no part of a text, one in its middle is") {
  const test::TempDir folder;
  const std::string file = folder.path() / "file", mark = "\xEF\xBB\xBF";
  std::ofstream(file, std::ios::binary) << mark + "text" + mark;
  CHECK(read_text_file(file, "a text") == "text" + mark);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << mark;
  CHECK(read_text_file(file, "a text").empty());
}

TEST_CASE(
    "text file: what is no text file is refused with its path, the reason and what was expected") {
  const test::TempDir folder;
  const std::string path = folder.path(), missing = path + "/none";
  for (const auto& [name, reason] :
       {std::pair(path, "Is a directory"), {missing, "No such file or directory"}}) {
    CAPTURE(name);
    try {
      read_text_file(name, "a poem");
      FAIL_CHECK("was read");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kNotFound);
      CHECK(error.what() == name + ": cannot be read (" + reason + "); expected a poem");
    }
  }
}

}  // namespace
}  // namespace triescope::test_text_file

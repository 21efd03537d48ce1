// Files as bytes: limits, names inside a folder, what was changed.
#include <doctest/doctest.h>

#include <chrono>

#include "core/base/error.h"
#include "core/files/input_file.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace test_input_file {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;
namespace fs = std::filesystem;

namespace {}  // namespace

TEST_CASE("input file: a file is read as text up to its limit, from the disk and from memory") {
  const TempDir folder;
  const std::string path = (folder.path() / "text").string();
  write_file(path, "abcd");
  CHECK(InputFile(path).text(4) == "abcd");
  CHECK(InputFile(path).size() == 4);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { InputFile(path).text(3); }),
            "expected at most 3 bytes, found 4"));
  const std::string bytes = "abcd";
  const InputFile memory(std::as_bytes(std::span(bytes)), "memory");
  CHECK(memory.text(4) == "abcd");
  CHECK(memory.path() == "memory");
  CHECK_NOTHROW(memory.check_unchanged());
  for (const InputFile* file : {&memory}) {
    std::string two(2, ' ');
    file->read(2, std::as_writable_bytes(std::span(two)));
    CHECK(two == "cd");
    file->read(4, {});  // nothing, at the end
    for (const std::uint64_t offset : {std::uint64_t{3}, std::uint64_t{5}, ~std::uint64_t{0}})
      CHECK(has(refusal(ErrorCode::kCorruption,
                        [&] { file->read(offset, std::as_writable_bytes(std::span(two))); }),
                "expected 2 bytes at offset " + std::to_string(offset) + ", but the file has 4"));
  }
  const InputFile disk(path);
  std::string one(1, ' ');
  CHECK(has(refusal(ErrorCode::kCorruption,
                    [&] { disk.read(4, std::as_writable_bytes(std::span(one))); }),
            "expected 1 bytes at offset 4, but the file has 4"));
  CHECK(has(refusal(ErrorCode::kCorruption,
                    [&] { disk.read(9, std::as_writable_bytes(std::span(one))); }),
            "expected 1 bytes at offset 9, but the file has 4"));
}

TEST_CASE("input file: a path that is not there, below a file, or not a file, says which") {
  const TempDir folder;
  const std::string path = (folder.path() / "text").string();
  write_file(path, "abcd");
  CHECK(has(refusal(ErrorCode::kNotFound, [&] { InputFile(path + "x"); }), "cannot be opened"));
  CHECK(has(refusal(ErrorCode::kNotFound, [&] { InputFile(path + "/x"); }), "cannot be opened"));
  CHECK(has(refusal(ErrorCode::kIoError, [&] { InputFile(folder.path().string()); }),
            "expected a regular file, found a folder"));
  CHECK(has(refusal(ErrorCode::kIoError, [&] { InputFile("/dev/null"); }), "found something else"));
}

TEST_CASE("input file: a file is changed where its size or its time is") {
  const TempDir folder;
  const fs::path path = folder.path() / "text";
  write_file(path, "abcd");
  const InputFile same(path.string());
  CHECK_NOTHROW(same.check_unchanged());
  const auto time = fs::last_write_time(path);
  fs::last_write_time(path, time + std::chrono::milliseconds(3));
  CHECK(has(refusal(ErrorCode::kIoError, [&] { same.check_unchanged(); }), "was changed"));
  fs::last_write_time(path, time);
  CHECK_NOTHROW(same.check_unchanged());
  write_file(path, "abcde");
  fs::last_write_time(path, time);
  CHECK(has(refusal(ErrorCode::kIoError, [&] { same.check_unchanged(); }), "was changed"));
}

TEST_CASE("input file: a name inside a folder is a file's name alone") {
  const TempDir folder;
  const std::string here = folder.path().string();
  CHECK(path_in_folder(here, "a") == here + "/a");
  CHECK(path_in_folder(here, "..a") == here + "/..a");
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/a"),
        std::string("../a"), std::string("a\0b", 3)})
    CHECK(has(refusal(ErrorCode::kCorruption, [&] { path_in_folder(here, name); }),
              "expected the name of a file in this folder"));
}

}  // namespace test_input_file

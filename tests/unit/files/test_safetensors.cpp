#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "core/base/error.h"
#include "core/files/json.h"
#include "core/files/safetensors.h"
#include "tests/support/paths.h"
#include "tests/unit/files/format_test_util.h"

namespace test_safetensors {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;
namespace fs = std::filesystem;

namespace {

std::string floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) bytes += bytes_of(value);
  return bytes;
}

std::string good_file() {
  return safetensors_bytes(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]},"c":{"dtype":"F16","shape":[],"data_offsets":[20,22]}})",
      floats({1, 2, 3, 4}) + bytes_of<std::uint16_t>(0x3f80) + bytes_of<std::uint16_t>(0xc000) +
          bytes_of<std::uint16_t>(0x3c00));
}

ErrorCode refusal(const std::string& header, std::size_t data_bytes) {
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  write_file(path, safetensors_bytes(header, std::string(data_bytes, '\0')));
  try {
    SafeTensors::open_file(path.string());
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("model.safetensors") != std::string::npos);
    return error.code();
  }
  FAIL("the file was accepted");
  return ErrorCode::kCancelled;
}

}  // namespace

TEST_CASE("safetensors: tensors of several dtypes are read as fp32") {
  const TempDir folder;
  write_file(folder.path() / "model.safetensors", good_file());
  const auto file = SafeTensors::open_folder(folder.path().string());
  REQUIRE(file->tensors().size() == 3);
  std::vector<float> a(2), b(2), c(1);
  file->read(*file->find("a"), 1, a);
  file->read(*file->find("b"), 0, b);
  file->read(*file->find("c"), 0, c);
  CHECK(a == std::vector<float>{2, 3});
  CHECK(b == std::vector<float>{1, -2});
  CHECK(c == std::vector<float>{1});
  CHECK(file->find("d") == nullptr);
  CHECK_THROWS_AS(file->read(*file->find("a"), 3, a), Error);
}

TEST_CASE(
    "safetensors: both 8-bit dtypes are read as fp32, any dtype as its bytes, others not at all") {
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  write_file(
      path, safetensors_bytes(R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},)"
                              R"("b":{"dtype":"F8_E5M2","shape":[2],"data_offsets":[2,4]},)"
                              R"("c":{"dtype":"BF16","shape":[3],"data_offsets":[4,10]},)"
                              R"("d":{"dtype":"I8","shape":[2],"data_offsets":[10,12]}})",
                              std::string("\x38\xb8\x3c\xc0\x80\x3f\x00\xc0\x40\x40\x01\x02", 12)));
  const auto file = SafeTensors::open_file(path.string());
  std::vector<float> two(2);
  file->read(*file->find("a"), 0, two);
  CHECK(two == std::vector<float>{1, -1});
  file->read(*file->find("b"), 0, two);
  CHECK(two == std::vector<float>{1, -2});
  std::vector<std::uint16_t> bits(2);
  const auto bytes = std::as_writable_bytes(std::span(bits));
  file->read_stored(*file->find("c"), 2, bytes);
  CHECK(bits == std::vector<std::uint16_t>{0xc000, 0x4040});
  CHECK_THROWS_WITH_AS(file->read_stored(*file->find("c"), 3, bytes),
                       "tensor 'c': expected a read within its 6 bytes, found one of 4 at 3",
                       Error);
  CHECK_THROWS_AS(file->read_stored(*file->find("c"), -1, bytes), Error);
  CHECK_THROWS_AS(file->read_stored(*file->find("c"), 7, bytes.first(0)), Error);
  CHECK_THROWS_WITH_AS(file->read(*file->find("d"), 0, two), doctest::Contains("is I8"), Error);
}

TEST_CASE("safetensors: an empty tensor takes no room; at most 8 dimensions") {
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  const auto opened = [&](const std::string& header, std::size_t bytes) {
    write_file(path, safetensors_bytes(header, std::string(bytes, '\0')));
    return SafeTensors::open_file(path.string());
  };
  // It may stand where another begins, whatever their order in the header.
  const auto file = opened(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("b":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]}})",
                           4);
  CHECK(file->find("b")->elements == 0);
  CHECK_NOTHROW(file->read(*file->find("b"), 0, {}));
  CHECK(opened(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4)
            ->tensors()[0]
            .shape.size() == 8);
  CHECK_THROWS_WITH_AS(
      opened(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4),
      doctest::Contains("at most 8 dimensions"), Error);
}

TEST_CASE("safetensors: a safetensors file cut anywhere is refused") {
  const std::string whole = good_file();
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    write_file(path, whole.substr(0, length));
    CHECK_THROWS_AS(SafeTensors::open_file(path.string()), Error);
  }
}

TEST_CASE(
    "safetensors: a safetensors file with flipped bytes opens or is refused, and never more") {
  const std::string whole = good_file();
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + static_cast<int>(random() % 3); ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    write_file(path, damaged);
    try {
      const auto file = SafeTensors::open_file(path.string());
      for (const SafeTensor& tensor : file->tensors()) {
        std::vector<float> values(static_cast<std::size_t>(tensor.elements));
        file->read(tensor, 0, values);
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("safetensors: headers that lie are refused") {
  const auto one = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  CHECK(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,4])"), 4) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 8) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8) ==
        ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"F32","shape":[1])"), 4) == ErrorCode::kCorruption);
  CHECK(refusal(one(R"("dtype":"Q99","shape":[1],"data_offsets":[0,4])"), 4) ==
        ErrorCode::kNotSupported);
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  CHECK(refusal(R"({"a":)" + entry + R"(,"b":)" + entry + "}", 4) == ErrorCode::kCorruption);
  CHECK(refusal(R"({"a":)" + entry + R"(,"a":)" + entry + "}", 4) == ErrorCode::kCorruption);
  CHECK(refusal("[1]", 0) == ErrorCode::kCorruption);
  CHECK(refusal(std::string(100000, '['), 0) == ErrorCode::kCorruption);
}

TEST_CASE("safetensors: JSON from untrusted files is limited") {
  CHECK(parse_json(R"({"a":[1,{"b":null}]})", "x")["a"][0] == 1);
  CHECK_THROWS_AS(parse_json(R"({"a":1,"a":2})", "x"), Error);
  CHECK_NOTHROW(parse_json(R"({"a":{"a":1},"b":{"a":2}})", "x"));
  CHECK_THROWS_AS(parse_json("", "x"), Error);
  CHECK_THROWS_AS(parse_json("{\"a\":\"\xff\"}", "x"), Error);
  CHECK_THROWS_AS(parse_json(std::string(70, '[') + std::string(70, ']'), "x"), Error);
  std::string many = "[";
  for (int i = 0; i < (4 << 20); ++i) many += "0,";
  CHECK_THROWS_AS(parse_json(many + "0]", "x"), Error);
}

TEST_CASE(
    "safetensors: a sharded folder is read through its index, and the index cannot leave the folder") {
  const TempDir outside, folder;
  const std::string header_a = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string header_b = R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  write_file(folder.path() / "m-1.safetensors", safetensors_bytes(header_a, floats({1})));
  write_file(folder.path() / "m-2.safetensors", safetensors_bytes(header_b, floats({2})));
  write_file(outside.path() / "m-3.safetensors", safetensors_bytes(header_b, floats({3})));
  const auto open_with = [&](const std::string& map) {
    write_file(folder.path() / "model.safetensors.index.json", R"({"weight_map":)" + map + "}");
    return SafeTensors::open_folder(folder.path().string());
  };
  const auto file = open_with(R"({"a":"m-1.safetensors","b":"m-2.safetensors"})");
  std::vector<float> value(1);
  file->read(*file->find("b"), 0, value);
  CHECK(value[0] == 2);
  CHECK(file->file_bytes() ==
        static_cast<std::int64_t>(8 + header_a.size() + 4 + 8 + header_b.size() + 4));
  const fs::path second = folder.path() / "m-2.safetensors";
  fs::last_write_time(second, fs::last_write_time(second) + std::chrono::hours(1));
  CHECK_THROWS_WITH_AS(file->check_unchanged(), doctest::Contains("m-2.safetensors: was changed"),
                       Error);
  CHECK_THROWS_AS(open_with(R"({"a":"m-2.safetensors"})"), Error);
  CHECK_THROWS_AS(open_with(R"({"a":"m-1.safetensors","c":"m-2.safetensors"})"), Error);
  CHECK_THROWS_WITH_AS(open_with(R"({"a":"m-9.safetensors","b":"m-2.safetensors"})"),
                       doctest::Contains("expected all of its 2 files in this folder, found no "
                                         "m-9.safetensors; fetch what is missing"),
                       Error);
  CHECK_THROWS_AS(
      open_with(R"({"a":"../)" + outside.path().filename().string() + R"(/m-3.safetensors"})"),
      Error);
  CHECK_THROWS_AS(open_with(R"({"a":")" + (outside.path() / "m-3.safetensors").string() + R"("})"),
                  Error);
  CHECK_THROWS_AS(open_with(R"({"a":".."})"), Error);
  CHECK_THROWS_AS(open_with("[]"), Error);
  CHECK_THROWS_AS(open_with("{}"), Error);
  CHECK_THROWS_AS(open_with(R"({"a":7})"), Error);
  // A link within the folder is followed, one out of it is not.
  fs::create_symlink(folder.path() / "m-2.safetensors", folder.path() / "inside.safetensors");
  fs::create_symlink(outside.path() / "m-3.safetensors", folder.path() / "outside.safetensors");
  CHECK_NOTHROW(open_with(R"({"b":"inside.safetensors"})"));
  CHECK_THROWS_AS(open_with(R"({"b":"outside.safetensors"})"), Error);
}

TEST_CASE(
    "safetensors: a safetensors file that shrinks or vanishes after it was opened gives an error") {
  const TempDir folder;
  const fs::path path = folder.path() / "model.safetensors";
  write_file(path, good_file());
  const auto file = SafeTensors::open_file(path.string());
  const SafeTensor& last = file->tensors().back();
  std::vector<float> values(static_cast<std::size_t>(last.elements));
  fs::resize_file(path, last.offset);
  CHECK_THROWS_WITH_AS(file->read(last, 0, values), doctest::Contains("became shorter"), Error);
  CHECK_THROWS_WITH_AS(file->check_unchanged(), doctest::Contains("was changed"), Error);
  write_file(path, good_file());
  const auto again = SafeTensors::open_file(path.string());
  fs::remove(path);
  CHECK_NOTHROW(again->read(again->tensors().back(), 0, values));  // it is still ours
}

TEST_CASE("safetensors: the layout of a Hugging Face cache is followed") {
  const TempDir root;
  const fs::path blobs = root.path() / "blobs";
  const fs::path snapshot = root.path() / "snapshots" / "abc";
  fs::create_directories(blobs);
  fs::create_directories(snapshot);
  write_file(blobs / "123", good_file());
  fs::create_symlink("../../blobs/123", snapshot / "model.safetensors");
  CHECK(SafeTensors::open_folder(snapshot.string())->tensors().size() == 3);
  fs::create_directories(snapshot / "q4");
  fs::create_symlink("../../../blobs/123", snapshot / "q4" / "model.safetensors");
  CHECK(SafeTensors::open_folder((snapshot / "q4").string())->tensors().size() == 3);
}

}  // namespace test_safetensors

// GGUF files as files: values of every type, tensors in several parts, reading a part of a tensor.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>

#include "core/base/error.h"
#include "core/files/gguf.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace test_gguf_parts {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

std::shared_ptr<const GgufFile> opened(const TempDir& folder, const GgufWriter& writer) {
  write_file(folder.path() / "model.gguf", writer.bytes());
  return GgufFile::open((folder.path() / "model.gguf").string());
}

// A set of parts in a folder, part i with a tensor "t<i>" of 8 numbers i, i + 1/8, ...
struct Parts {
  TempDir folder;
  int count;
  std::vector<GgufWriter> writers;

  explicit Parts(int parts) : count(parts), writers(static_cast<std::size_t>(parts)) {
    for (int i = 1; i <= parts; ++i) {
      GgufWriter& writer = writers[static_cast<std::size_t>(i - 1)];
      writer.add("split.no", static_cast<std::uint32_t>(i - 1));
      writer.add("split.count", static_cast<std::uint32_t>(parts));
      std::vector<float> values;
      for (int k = 0; k < 8; ++k) values.push_back(static_cast<float>(i) + 0.125f * k);
      writer.add_f32("t" + std::to_string(i), {4, 2}, values);
    }
  }
  std::string path(int part) const {
    return (folder.path() /
            ("m-0000" + std::to_string(part) + "-of-0000" + std::to_string(count) + ".gguf"))
        .string();
  }
  std::shared_ptr<const GgufFile> open() const {
    for (int i = 1; i <= count; ++i)
      write_file(path(i), writers[static_cast<std::size_t>(i - 1)].bytes());
    return GgufFile::open(path(1));
  }
  std::string refused() const {
    return refusal(ErrorCode::kCorruption, [&] { open(); });
  }
};

}  // namespace

TEST_CASE("GGUF parts: GGUF values of every type, at the ends of their ranges") {
  const TempDir folder;
  GgufWriter writer;
  writer.add_raw("u8", 0, bytes_of<std::uint8_t>(255));
  writer.add_raw("i8", 1, bytes_of<std::int8_t>(-128));
  writer.add_raw("u16", 2, bytes_of<std::uint16_t>(65535));
  writer.add_raw("i16", 3, bytes_of<std::int16_t>(-32768));
  writer.add_raw("u32", 4, bytes_of<std::uint32_t>(4294967295u));
  writer.add_raw("i32", 5, bytes_of<std::int32_t>(-2147483648));
  writer.add_raw("f32", 6, bytes_of<float>(0.5f));
  writer.add_raw("yes", 7, std::string(1, '\1'));
  writer.add_raw("no", 7, std::string(1, '\0'));
  writer.add_raw("text", 8, gguf_text("a\0b"));
  writer.add_raw("u64", 10, bytes_of<std::uint64_t>(INT64_MAX));
  writer.add_raw("i64", 11, bytes_of<std::int64_t>(INT64_MIN));
  writer.add_raw("f64", 12, bytes_of<double>(1e300));
  writer.add_raw("u8s", 9, gguf_numbers<std::uint8_t>(0, {1, 255}));
  writer.add_raw("i64s", 9, gguf_numbers<std::int64_t>(11, {-5, 5}));
  writer.add_raw("bools", 9, gguf_numbers<std::uint8_t>(7, {1, 0}));
  writer.add_raw("f64s", 9, gguf_numbers<double>(12, {0.25, -2}));
  writer.add_raw("texts", 9, gguf_texts({"a", "", "bc"}));
  writer.add_raw("none", 9, gguf_texts({}));
  const auto file = opened(folder, writer);
  CHECK(file->integer("u8") == 255);
  CHECK(file->integer("i8") == -128);
  CHECK(file->integer("u16") == 65535);
  CHECK(file->integer("i16") == -32768);
  CHECK(file->integer("u32") == 4294967295);
  CHECK(file->integer("i32") == -2147483648);
  CHECK(file->number("f32") == 0.5);
  CHECK(file->boolean("yes") == true);
  CHECK(file->boolean("no") == false);
  CHECK(file->text("text") == "a");  // the literal ends there
  CHECK(file->integer("u64") == INT64_MAX);
  CHECK(file->integer("i64") == INT64_MIN);
  CHECK(file->number("f64") == 1e300);
  CHECK(file->integers("u8s") == std::vector<std::int64_t>{1, 255});
  CHECK(file->integers("i64s") == std::vector<std::int64_t>{-5, 5});
  CHECK(file->integers("bools") == std::vector<std::int64_t>{1, 0});
  CHECK(file->floats("f64s") == std::vector<float>{0.25f, -2.0f});
  CHECK(file->texts("texts") == std::vector<std::string>{"a", "", "bc"});
  CHECK(file->texts("none") == std::vector<std::string>{});
  CHECK(!file->texts("absent"));
  CHECK(file->has("no"));
  CHECK(!file->has("absent"));
  CHECK(file->keys().size() == 19);
  for (const char* key : {"u8s", "i64s", "bools", "f64s", "texts", "none"})
    CHECK(file->is_array(key));
  for (const char* key : {"u8", "i64", "f32", "yes", "text", "absent"}) CHECK(!file->is_array(key));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { file->text("u8"); }),
            "key 'u8': expected a text, found an integer"));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { file->integer("f32"); }), "key 'f32'"));
}

TEST_CASE(
    "GGUF parts: a GGUF integer of 2^63 does not fit, a list may fill the file but not pass it") {
  GgufWriter writer;
  writer.add_raw("u64", 10, bytes_of<std::uint64_t>(std::uint64_t{1} << 63));
  const TempDir folder;
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { opened(folder, writer); }),
            "expected an integer below 2^63, found 9223372036854775808"));
  GgufWriter full;
  full.alignment = 8;  // 24 + (8 + 1 + 4) + (4 + 8) + 7 bytes: nothing is left over
  full.add_raw("k", 9, gguf_numbers<std::uint8_t>(0, std::vector<std::uint8_t>(7, 3)));
  CHECK(full.bytes().size() == 56);
  CHECK(opened(folder, full)->integers("k")->size() == 7);
}

TEST_CASE("GGUF parts: a tensor's alignment, offset and shape are the file's") {
  const TempDir folder;
  GgufWriter writer;
  writer.alignment = 64;
  writer.add("general.alignment", 64u);
  writer.add_f32("a", {3}, {1, 2, 3});
  writer.add_f32("b", {2, 3, 4, 5}, std::vector<float>(120, 7.0f));
  const auto file = opened(folder, writer);
  REQUIRE(file->tensors().size() == 2);
  const GgufTensor* b = file->find("b");
  REQUIRE(b != nullptr);
  CHECK(b->shape == std::vector<std::int64_t>{5, 4, 3, 2});
  CHECK(b->elements == 120);
  CHECK(b->bytes == 480);
  CHECK(b->offset % 64 == 0);
  CHECK(b->offset - file->find("a")->offset == 64);
  CHECK(file->find("c") == nullptr);
  std::vector<float> value(1);
  file->read(*b, 476, std::as_writable_bytes(std::span(value)));
  CHECK(value[0] == 7);
}

TEST_CASE("GGUF parts: tensors that overlap by less than the alignment are refused") {
  const TempDir folder;
  GgufWriter writer;
  writer.data = std::string(64, '\0');
  writer.add_entry("a", {9}, 0, 0);
  writer.add_entry("b", {8}, 0, 32);  // a's last number is b's first
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { opened(folder, writer); }),
            "tensors 'a' and 'b' overlap"));
}

TEST_CASE(
    "GGUF parts: a part of a tensor is read from where it begins, and not past the tensor's end") {
  const Parts parts(1);
  const TempDir folder;
  const auto file = opened(folder, parts.writers[0]);
  const GgufTensor& tensor = *file->find("t1");
  std::vector<float> two(2);
  const auto bytes = std::as_writable_bytes(std::span(two));
  file->read(tensor, 4, bytes);
  CHECK(two == std::vector<float>{1.125f, 1.25f});
  file->read(tensor, 24, bytes);
  CHECK(two == std::vector<float>{1.75f, 1.875f});
  file->read(tensor, 32, bytes.first(0));  // nothing, at the end
  for (const std::int64_t begin : {-1, 25, 33, 1000})
    CHECK(refusal(ErrorCode::kInvalidArgument, [&] { file->read(tensor, begin, bytes); }) ==
          "tensor 't1': read past its 32 bytes");
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { file->read(tensor, 33, bytes.first(0)); }) ==
        "tensor 't1': read past its 32 bytes");
}

TEST_CASE("three parts are one file: tensors of each, all bytes, any of them changed") {
  const Parts parts(3);
  const auto file = parts.open();
  REQUIRE(file->tensors().size() == 3);
  for (int i = 1; i <= 3; ++i) {
    const GgufTensor* tensor = file->find("t" + std::to_string(i));
    REQUIRE(tensor != nullptr);
    CHECK(tensor->part == i - 1);
    std::vector<float> values(8);
    file->read(*tensor, 0, std::as_writable_bytes(std::span(values)));
    CHECK(values[0] == static_cast<float>(i));
    CHECK(values[7] == static_cast<float>(i) + 0.875f);
  }
  std::int64_t bytes = 0;
  for (const GgufWriter& writer : parts.writers)
    bytes += static_cast<std::int64_t>(writer.bytes().size());
  CHECK(file->file_bytes() == bytes);
  CHECK(file->path() == parts.path(1));
  CHECK_NOTHROW(file->check_unchanged());
  std::filesystem::last_write_time(
      parts.path(3), std::filesystem::last_write_time(parts.path(3)) + std::chrono::hours(1));
  CHECK(has(refusal(ErrorCode::kIoError, [&] { file->check_unchanged(); }),
            parts.path(3) + ": was changed"));
}

TEST_CASE("GGUF parts: parts that do not belong together are refused") {
  const auto key = [](GgufWriter& writer, const char* name, std::uint32_t value) {
    std::erase_if(writer.keys,
                  [&](const std::string& entry) { return entry.starts_with(gguf_text(name)); });
    writer.add(name, value);
  };
  Parts swapped(3);
  std::swap(swapped.writers[1], swapped.writers[2]);
  CHECK(has(swapped.refused(), "expected part 2 of 3 by its split.no and split.count"));
  Parts other(2);
  key(other.writers[1], "split.count", 3);
  CHECK(has(other.refused(), "expected part 2 of 2 by its split.no and split.count"));
  Parts absurd(1);
  key(absurd.writers[0], "split.count", 1001);
  CHECK(has(absurd.refused(), "split.count: expected 1 to 1000, found 1001"));
  for (const std::uint32_t whole : {0u, 1u}) {  // 0: merged from parts
    Parts merged(1);
    key(merged.writers[0], "split.count", whole);
    CHECK(merged.open()->tensors().size() == 1);
  }
  Parts counted(2);
  key(counted.writers[0], "split.tensors.count", 2);
  CHECK(counted.open()->tensors().size() == 2);
  for (const std::uint32_t count : {1u, 3u}) {
    key(counted.writers[0], "split.tensors.count", count);
    CHECK(has(counted.refused(),
              "expected " + std::to_string(count) + " tensors in all parts, found 2"));
  }
  Parts twice(2);
  twice.writers[1].tensors.clear();
  twice.writers[1].data.clear();
  twice.writers[1].add_f32("t1", {8}, std::vector<float>(8));
  CHECK(has(twice.refused(), "tensor 't1' appears twice"));
}

TEST_CASE("GGUF parts: a set of parts is opened by its first part's name alone") {
  Parts parts(2);
  parts.open();
  const std::string expected = "open the first part, whose name ends in 00001-of-00002.gguf";
  CHECK(
      has(refusal(ErrorCode::kInvalidArgument, [&] { GgufFile::open(parts.path(2)); }), expected));
  const std::filesystem::path renamed = parts.folder.path() / "model.gguf";
  std::filesystem::copy_file(parts.path(1), renamed);
  CHECK(has(refusal(ErrorCode::kInvalidArgument, [&] { GgufFile::open(renamed.string()); }),
            expected));
}

TEST_CASE("GGUF parts: parts whose names are their numbers alone are found in the working folder") {
  Parts parts(2);
  parts.open();
  namespace fs = std::filesystem;
  for (const char* name : {"00001-of-00002.gguf", "00002-of-00002.gguf"})
    fs::copy_file(parts.path(name[4] - '0'), parts.folder.path() / name);
  struct WorkingFolder {
    fs::path before = fs::current_path();
    ~WorkingFolder() { fs::current_path(before); }
  } restored;
  fs::current_path(parts.folder.path());
  CHECK(GgufFile::open("00001-of-00002.gguf")->tensors().size() == 2);
}

}  // namespace test_gguf_parts

#include "core/files/torch_file.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/files/zip_entries.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/refusal.h"

namespace test_torch_file {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

InputFile file_of(const std::string& bytes) {
  return InputFile(std::as_bytes(std::span(bytes)), "x.pt");
}

std::shared_ptr<const TorchFile> open(const std::string& bytes) {
  return TorchFile::open(std::make_unique<InputFile>(std::as_bytes(std::span(bytes)), "x.pt"));
}

std::string refusal_of(const std::string& bytes, ErrorCode code) {
  return refusal(code, [&] { open(bytes); });
}

std::vector<ZipFile> good_files() {
  std::string floats;
  for (const float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) floats += little_endian(value);
  return {{"archive/data.pkl",
           pickle_of(pickled("a") + pickled_tensor({}) + pickled("b") +
                     pickled_tensor({.first = 2, .shape = {2, 2}, .strides = {2, 1}}))},
          {"archive/byteorder", "little"},
          {"archive/data/0", floats},
          {"archive/version", "3\n"}};
}

std::vector<ZipFile> with(std::size_t index, const std::string& contents) {
  std::vector<ZipFile> files = good_files();
  files[index].contents = contents;
  return files;
}

}  // namespace

TEST_CASE("zip: tensors of a PyTorch file lie where their storage and offset say") {
  for (const bool zip64 : {false, true}) {
    const std::string bytes = zip_of(good_files(), zip64);
    const auto file = open(bytes);
    REQUIRE(file->tensors().size() == 2);
    CHECK(file->path() == "x.pt");
    CHECK(file->file_bytes() == static_cast<std::int64_t>(bytes.size()));
    const SafeTensor& b = file->tensors()[1];
    CHECK(b.name == "b");
    CHECK(b.dtype == "F32");
    CHECK(b.shape == std::vector<std::int64_t>{2, 2});
    CHECK(b.elements == 4);
    CHECK(b.bytes == 16);
    std::vector<float> values(4);
    file->read_bytes(b, std::as_writable_bytes(std::span(values)));
    CHECK(values == std::vector<float>{3, 4, 5, 6});
    CHECK(b.offset == file->tensors()[0].offset + 8);
  }
}

TEST_CASE(
    "zip: names, places and sizes come from the directory, contents from behind each header") {
  const std::string bytes = zip_of({{"a", "12345"}, {"folder/b", ""}, {"c", "xyz"}});
  const InputFile file = file_of(bytes);
  CHECK(is_zip(file));
  const std::vector<ZipEntry> entries = read_zip_entries(file);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "a");
  CHECK(entries[0].size == 5);
  CHECK(bytes.substr(entries[0].offset, 5) == "12345");
  CHECK(entries[1].name == "folder/b");
  CHECK(entries[1].size == 0);
  CHECK(bytes.substr(entries[2].offset, 3) == "xyz");
  CHECK_FALSE(is_zip(file_of("PK\x03\x04")));
  CHECK_FALSE(is_zip(file_of(std::string(30, 'x'))));
}

TEST_CASE("zip: a comment behind the directory is skipped") {
  std::string bytes = zip_of({{"a", "12345"}});
  bytes[bytes.size() - 2] = 4;
  bytes += "PK\x05\x06";
  CHECK(read_zip_entries(file_of(bytes)).size() == 1);
}

TEST_CASE("zip: damage is found wherever it lies") {
  const std::string good = zip_of({{"abc", "12345"}});
  const std::size_t directory = good.find("PK\x01\x02"), end = good.find("PK\x05\x06");
  const auto changed = [&](std::size_t at, const std::string& bytes) {
    std::string copy = good;
    copy.replace(at, bytes.size(), bytes);
    return refusal(ErrorCode::kCorruption, [&] { read_zip_entries(file_of(copy)); });
  };
  CHECK(read_zip_entries(file_of(good)).size() == 1);
  CHECK(has(changed(end, "PK\x05\x07"), "expected the end of a zip directory"));
  CHECK(has(changed(end + 10, little_endian<std::uint16_t>(2)), "expected 2 entries, found 1"));
  CHECK(has(changed(end + 16, little_endian<std::uint32_t>(0x7fffffff)),
            "expected the directory within"));
  CHECK(has(changed(end + 12, little_endian<std::uint32_t>(0x7fffffff)),
            "expected the directory within"));
  CHECK(has(changed(directory, "PK\x01\x03"), "expected 1 entries, found 0"));
  CHECK(has(changed(directory + 28, little_endian<std::uint16_t>(60)),
            "entry 0 within the directory"));
  CHECK(has(changed(directory + 42, little_endian<std::uint32_t>(1)),
            "expected a header of the same name at 1"));
  CHECK(has(changed(directory + 42, little_endian<std::uint32_t>(0x10000000)),
            "expected its header before"));
  CHECK(has(changed(directory + 46, "x"), "expected a header of the same name at 0"));
  CHECK(has(changed(28, little_endian<std::uint16_t>(0x4000)), "expected its 5 bytes before byte"));
  for (const std::size_t at : {directory + 20, directory + 24})
    CHECK(has(refusal(ErrorCode::kNotSupported,
                      [&] {
                        std::string copy = good;
                        copy[at] = 9;
                        read_zip_entries(file_of(copy));
                      }),
              "is compressed or encrypted"));
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(has(
        refusal(ErrorCode::kCorruption, [&] { read_zip_entries(file_of(good.substr(0, size))); }),
        "x.pt"));
}

TEST_CASE("zip: compressed, encrypted, split and doubled entries are refused") {
  const std::string good = zip_of({{"abc", "12345"}});
  const std::size_t directory = good.find("PK\x01\x02"), end = good.find("PK\x05\x06");
  const auto refused = [&](std::size_t at, char byte) {
    std::string copy = good;
    copy[at] = byte;
    return refusal(ErrorCode::kNotSupported, [&] { read_zip_entries(file_of(copy)); });
  };
  CHECK(has(refused(directory + 10, 8), "entry 'abc' is compressed or encrypted (method 8)"));
  CHECK(has(refused(directory + 8, 1), "(method 0)"));
  CHECK(has(refused(end + 4, 1), "several files"));
  CHECK(has(refusal(ErrorCode::kCorruption,
                    [] {
                      read_zip_entries(file_of(zip_of({{"a", "1"}, {"a", "2"}})));
                    }),
            "'a' is there twice"));
}

TEST_CASE("zip: a PyTorch file must hold one pickle and every storage in full") {
  CHECK(has(refusal_of(zip_of({{"archive/x", "1"}}), ErrorCode::kCorruption),
            "expected an entry NAME/data.pkl"));
  std::vector<ZipFile> two = good_files();
  two.push_back({"other/data.pkl", "1"});
  CHECK(has(refusal_of(zip_of(two), ErrorCode::kCorruption), "found two"));
  CHECK(has(refusal_of(zip_of(with(1, "big")), ErrorCode::kNotSupported),
            "expected byteorder little"));
  CHECK(has(refusal_of(zip_of(with(2, std::string(20, 'x'))), ErrorCode::kCorruption),
            "expected 6 values of 4 bytes in its storage, found 20 bytes"));
  CHECK(has(refusal_of(zip_of(with(2, std::string(25, 'x'))), ErrorCode::kCorruption),
            "found 25 bytes"));
  std::vector<ZipFile> none = good_files();
  none[2].name = "archive/data/1";
  CHECK(has(refusal_of(zip_of(none), ErrorCode::kCorruption),
            "tensor 'a': expected an entry data/0"));
}

TEST_CASE("zip: files from before PyTorch 1.6 and other files are refused by name") {
  CHECK(has(refusal_of("\x80\x02\x8a\x0a" + std::string(40, 'x'), ErrorCode::kNotSupported),
            "before PyTorch 1.6"));
  CHECK(has(refusal_of("hello", ErrorCode::kCorruption), "expected a file of torch.save"));
  CHECK(has(refusal_of("", ErrorCode::kCorruption), "expected a file of torch.save"));
}

}  // namespace test_torch_file

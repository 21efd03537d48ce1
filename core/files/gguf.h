// GGUF v3 reader: metadata and tensor directory of one file (or of a split set, opened by its first
// part). Everything is checked before use: a malicious file gives Error{kCorruption}, never a
// crash. The file is read, not mapped (input_file.h says why). No torch. Immutable once opened: any
// number of threads may read. Source: the GGUF specification (ggml).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/dequantise.h"
#include "core/files/input_file.h"

namespace triescope::formats {

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // torch order: slowest first (GGUF stores the reverse)
  GgmlType type = GgmlType::kF32;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  int part = 0;              // index in a split set
  std::uint64_t offset = 0;  // in that part's file
};

class GgufFile {
 public:
  // Errors: kNotFound, kCorruption, kNotSupported (version, tensor type), kIoError.
  static std::shared_ptr<const GgufFile> open(const std::string& path);
  static std::shared_ptr<const GgufFile> open(std::unique_ptr<InputFile> first_part);
  ~GgufFile();

  const std::string& path() const;
  std::int64_t file_bytes() const;  // of all parts
  // Metadata by key. nullopt: absent. Error{kCorruption}: it has another type.
  bool has(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;  // float or integer
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<float>> floats(std::string_view key) const;
  std::vector<std::string> keys() const;
  bool is_array(std::string_view key) const;

  std::span<const GgufTensor> tensors() const;
  const GgufTensor* find(std::string_view name) const;  // nullptr: absent

  // Bytes [begin, begin + out.size()) of a tensor. Error{kCorruption}: the file has become shorter.
  void read(const GgufTensor& tensor, std::int64_t begin, std::span<std::byte> out) const;
  void will_read(const GgufTensor& tensor) const;  // see InputFile::will_read
  // Error{kIoError} if a part was changed since it was opened.
  void check_unchanged() const;

 private:
  GgufFile();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::formats

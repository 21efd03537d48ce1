// GGUF v3 reader: metadata and tensor directory of one memory-mapped file (or of a split set, opened by its first part).
// Everything is checked before use: a hostile file gives Error{kCorruption}, never a crash. No torch.
// Source: the GGUF specification (ggml).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::formats {

// ggml tensor types, by their numbers in the file.
enum class GgmlType : std::uint32_t {
  kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ5_0 = 6, kQ5_1 = 7, kQ8_0 = 8, kQ2_K = 10, kQ3_K = 11, kQ4_K = 12,
  kQ5_K = 13, kQ6_K = 14, kIQ4_NL = 20, kBF16 = 30,
};
std::string to_string(GgmlType type);

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // torch order: slowest first (GGUF stores the reverse)
  GgmlType type = GgmlType::kF32;
  std::span<const std::byte> data;  // in the mapping
};

class GgufFile {
 public:
  // Errors: kNotFound, kCorruption, kNotSupported (version, tensor type), kIoError.
  static std::shared_ptr<const GgufFile> open(const std::string& path);
  ~GgufFile();

  const std::string& path() const;
  std::int64_t file_bytes() const;
  // Metadata by key. nullopt: absent. Error{kCorruption}: there, but of another type.
  bool has(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;  // float or integer
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<float>> floats(std::string_view key) const;
  std::vector<std::string> keys() const;

  std::span<const GgufTensor> tensors() const;
  const GgufTensor* find(std::string_view name) const;  // nullptr: absent

 private:
  GgufFile();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::formats

// safetensors: one file, or the files that an index names. The header is checked as in the
// reference implementation (no holes, no overlap, nothing outside); reading is by pread. Immutable
// once opened: any number of threads may read. Source: huggingface/safetensors, README (format) and
// tensor.rs (validation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/files/input_file.h"

namespace triescope::formats {

// A tensor that a file stores as it is; also used for PyTorch files (torch_file.h).
struct SafeTensor {
  std::string name;
  std::string dtype;  // "F32", "BF16", ... as in the file
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  int part = 0;
  std::uint64_t offset = 0;  // in that part's file
};

class SafeTensors {
 public:
  // Opens a .safetensors file, or a Hugging Face folder: its model.safetensors, else the files that
  // model.safetensors.index.json names. Errors: kNotFound, kCorruption, kIoError.
  static std::shared_ptr<const SafeTensors> open_file(const std::string& path);
  static std::shared_ptr<const SafeTensors> open(std::unique_ptr<InputFile> file);
  static std::shared_ptr<const SafeTensors> open_folder(const std::string& folder);

  std::int64_t file_bytes() const;
  std::span<const SafeTensor> tensors() const { return tensors_; }
  const SafeTensor* find(std::string_view name) const;  // nullptr: absent
  const std::string& path_of(const SafeTensor& tensor) const;

  // Reads elements [begin, begin + out.size()) as fp32; F64 is rounded. Error{kNotSupported}: a
  // dtype other than F64, F32, F16, BF16, F8_E4M3, F8_E5M2.
  void read(const SafeTensor& tensor, std::int64_t begin, std::span<float> out) const;
  // Reads bytes [begin, begin + out.size()) of the tensor as they are in the file.
  void read_stored(const SafeTensor& tensor, std::int64_t begin, std::span<std::byte> out) const;
  void will_read(const SafeTensor& tensor) const;  // see InputFile::will_read
  void check_unchanged() const;

 private:
  void add(std::unique_ptr<InputFile> opened);
  void index();

  std::vector<std::unique_ptr<InputFile>> files_;
  std::vector<SafeTensor> tensors_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace triescope::formats

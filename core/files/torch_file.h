// A file of torch.save (.bin, .pt): a zip archive with a pickled dictionary of tensors and an entry
// for each storage. Nothing in it is executed (pickle.h). Immutable once opened: any number of
// threads may read. Source: torch/serialization.py (_save), caffe2/serialize/inline_container.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/safetensors.h"

namespace triescope::formats {

class TorchFile {
 public:
  // Errors: kCorruption, kIoError; kNotSupported: written before PyTorch 1.6, big-endian, or it
  // holds more than tensors.
  static std::shared_ptr<const TorchFile> open(std::unique_ptr<InputFile> file);

  const std::string& path() const { return file_->path(); }
  std::int64_t file_bytes() const { return static_cast<std::int64_t>(file_->size()); }
  // In the dictionary's order. Two names for one storage have the same offset.
  std::span<const SafeTensor> tensors() const { return tensors_; }
  // REQUIRES: out.size() == tensor.bytes.
  void read_bytes(const SafeTensor& tensor, std::span<std::byte> out) const {
    file_->read(tensor.offset, out);
  }

 private:
  std::unique_ptr<InputFile> file_;
  std::vector<SafeTensor> tensors_;
};

}  // namespace triescope::formats

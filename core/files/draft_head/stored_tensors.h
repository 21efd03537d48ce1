// The tensors of a draft head as they are stored, in any kind of file: safetensors or torch.save's,
// one file or the parts that an index names. Immutable once opened.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/safetensors.h"
#include "core/files/torch_file.h"

namespace triescope::formats {

class StoredTensors {
 public:
  // Opens a .safetensors, .bin, .pt or .pth file, or a folder: its file of heads (medusa_lm_head,
  // hydra_lm_head), else model.safetensors, else pytorch_model.bin, else its only file of these
  // kinds. Errors: kNotFound, kCorruption, kNotSupported, kIoError.
  static StoredTensors open(const std::string& path);
  static StoredTensors of(std::shared_ptr<const SafeTensors> file);
  static StoredTensors of(std::shared_ptr<const TorchFile> file);

  std::span<const SafeTensor> tensors() const { return tensors_; }
  // All bytes of tensors()[index].
  std::vector<std::byte> read(std::size_t index) const;
  // The first of the tensors that has the same bytes in the file as this one.
  std::size_t source(std::size_t index) const;
  std::int64_t file_bytes() const;

 private:
  void add(const std::shared_ptr<const TorchFile>& file);

  std::vector<SafeTensor> tensors_;  // part: of torch_
  std::shared_ptr<const SafeTensors> safe_;
  std::vector<std::shared_ptr<const TorchFile>> torch_;
};

// Whether there is something that open() would try to read.
bool may_hold_tensors(const std::string& path);
// The config.json beside the tensors; "" = none.
std::string config_beside(const std::string& path);

}  // namespace triescope::formats

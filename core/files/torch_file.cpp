#include "core/files/torch_file.h"

#include <array>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/files/pickle.h"
#include "core/files/zip_entries.h"

namespace triescope::formats {
namespace {

constexpr std::uint64_t kMaxPickleBytes = 16u << 20;
constexpr std::string_view kPickleName = "/data.pkl";

[[noreturn]] void corrupt_torch_file(const InputFile& file, const std::string& what) {
  throw Error(ErrorCode::kCorruption,
              file.path() + ": " + what + "; the PyTorch file is damaged, fetch it again");
}

std::string contents(const InputFile& file, const ZipEntry& entry) {
  std::string text(entry.size, '\0');
  file.read(entry.offset, std::as_writable_bytes(std::span(text)));
  return text;
}

// Before version 1.6 a file was a row of pickles, or a tar archive.
void check_is_zip(const InputFile& file) {
  if (is_zip(file)) return;
  std::array<std::byte, 1> first{};
  if (file.size() > 0) file.read(0, first);
  if (first[0] == std::byte{0x80}) {
    throw Error(ErrorCode::kNotSupported,
                file.path() +
                    ": was written before PyTorch 1.6 (a pickle without a zip archive), "
                    "which is not read; load it with PyTorch and save its tensors as "
                    "safetensors");
  }
  corrupt_torch_file(file, "expected a file of torch.save (a zip archive), found none");
}

}  // namespace

std::shared_ptr<const TorchFile> TorchFile::open(std::unique_ptr<InputFile> opened) {
  const InputFile& file = *opened;
  check_is_zip(file);
  std::unordered_map<std::string, ZipEntry> entries;
  std::string folder;
  for (ZipEntry& entry : read_zip_entries(file)) {
    if (entry.name.ends_with(kPickleName)) {
      if (!folder.empty()) corrupt_torch_file(file, "expected one entry data.pkl, found two");
      folder = entry.name.substr(0, entry.name.size() - kPickleName.size() + 1);
    }
    std::string name = entry.name;
    entries.emplace(std::move(name), std::move(entry));
  }
  if (folder.empty()) corrupt_torch_file(file, "expected an entry NAME/data.pkl, found none");
  const auto order = entries.find(folder + "byteorder");
  if (order != entries.end() &&
      (order->second.size != 6 || contents(file, order->second) != "little")) {
    throw Error(ErrorCode::kNotSupported,
                file.path() +
                    ": expected byteorder little, found another one; save the file on a "
                    "little-endian machine");
  }
  const ZipEntry& pickle_entry = entries.at(folder + "data.pkl");
  if (pickle_entry.size > kMaxPickleBytes) {
    corrupt_torch_file(file, "expected data.pkl of at most " + std::to_string(kMaxPickleBytes) +
                                 " bytes, found " + std::to_string(pickle_entry.size));
  }
  const std::string pickle = contents(file, pickle_entry);

  auto result = std::make_shared<TorchFile>();
  for (const PickledTensor& pickled :
       read_pickle(std::as_bytes(std::span(pickle)), file.path() + ": data.pkl")) {
    const auto width = static_cast<std::uint64_t>(pickled_width(pickled.dtype));
    const auto storage = entries.find(folder + "data/" + pickled.storage);
    const std::string who = "tensor '" + pickled.name.substr(0, 200) + "'";
    if (storage == entries.end())
      corrupt_torch_file(file, who + ": expected an entry data/" + pickled.storage.substr(0, 200));
    if (storage->second.size % width != 0 ||
        storage->second.size / width != static_cast<std::uint64_t>(pickled.storage_elements)) {
      corrupt_torch_file(file, who + ": expected " + std::to_string(pickled.storage_elements) +
                                   " values of " + std::to_string(width) +
                                   " bytes in its storage, found " +
                                   std::to_string(storage->second.size) + " bytes");
    }
    SafeTensor tensor;
    tensor.name = pickled.name;
    tensor.dtype = pickled.dtype;
    tensor.shape = pickled.shape;
    tensor.elements = pickled.elements;
    tensor.bytes = pickled.elements * static_cast<std::int64_t>(width);
    tensor.offset = storage->second.offset + static_cast<std::uint64_t>(pickled.first) * width;
    result->tensors_.push_back(std::move(tensor));
  }
  result->file_ = std::move(opened);
  return result;
}

}  // namespace triescope::formats

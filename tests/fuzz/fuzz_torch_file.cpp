// A .bin or .pt file: zip directory, pickle, then all bytes of every tensor.
#include <vector>

#include "core/files/torch_file.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const auto file = formats::TorchFile::open(
        std::make_unique<formats::InputFile>(fuzz::bytes_of(data, size), "fuzz.pt"));
    for (const formats::SafeTensor& tensor : file->tensors()) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
      file->read_bytes(tensor, bytes);
    }
  });
  return 0;
}

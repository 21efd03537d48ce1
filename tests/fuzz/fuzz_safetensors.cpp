// A .safetensors file: header, then the first and last values of every tensor.
#include <algorithm>
#include <vector>

#include "core/files/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const auto file = formats::SafeTensors::open(
        std::make_unique<formats::InputFile>(fuzz::bytes_of(data, size), "fuzz.safetensors"));
    for (const formats::SafeTensor& tensor : file->tensors()) {
      std::vector<float> values(
          static_cast<std::size_t>(std::min<std::int64_t>(tensor.elements, 8)));
      fuzz::tolerate_refusal([&] {
        file->read(tensor, 0, values);
        file->read(tensor, tensor.elements - static_cast<std::int64_t>(values.size()), values);
      });
    }
  });
  return 0;
}

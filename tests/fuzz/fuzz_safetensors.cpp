// A .safetensors file: header, then the first and last values of every tensor, and the first and last
// row of every weight that it holds in the way of a quantised format.
#include <algorithm>
#include <vector>

#include "core/files/quantised/quantised_tensors.h"
#include "core/files/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

void read_quantised(const std::shared_ptr<const formats::SafeTensors>& file,
                    const formats::Quantisation& how) {
  const formats::QuantisedTensors quantised(file, how);
  for (const auto& tensor : quantised.tensors()) {
    if (tensor->elements() == 0 || tensor->cols > 1 << 16) continue;
    std::vector<float> row(static_cast<std::size_t>(tensor->cols));
    fuzz::tolerate_refusal([&] {
      tensor->read(0, row);
      tensor->read(tensor->elements() - tensor->cols, row);
    });
  }
}

}  // namespace

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
    using enum formats::QuantMethod;
    for (const formats::Quantisation& how : {formats::Quantisation{kFp8},
                                             {kFp8, 0, {16, 16}},
                                             {kGptq, 4, {}, true},
                                             {kGptq, 8},
                                             {kAwq, 4},
                                             {kBitsAndBytes},
                                             {kCompressedTensors}})
      fuzz::tolerate_refusal([&] { read_quantised(file, how); });
  });
  return 0;
}

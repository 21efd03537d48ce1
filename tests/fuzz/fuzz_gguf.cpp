// A GGUF file: metadata, tensor table, the first block of every tensor, the configuration, the
// tokenizer.
#include <algorithm>
#include <string>
#include <vector>

#include "core/files/config.h"
#include "core/files/dequantise.h"
#include "core/files/gguf.h"
#include "core/text/tokenizer/spec.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

void read_first_block(const formats::GgufFile& file, const formats::GgufTensor& tensor) {
  std::vector<std::byte> block(static_cast<std::size_t>(formats::block_bytes(tensor.type)));
  std::vector<float> values(static_cast<std::size_t>(formats::block_elements(tensor.type)));
  file.read(tensor, 0, block);
  formats::dequantise(tensor.type, block, values);
}

void use_tokenizer(const formats::GgufFile& file) {
  const auto tokenizer = tokenizer::make_tokenizer(tokenizer::spec_from_gguf(file));
  fuzz::tolerate_refusal([&] { tokenizer->decode(tokenizer->encode("a b\xC3\xA9 <s>1"), false); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const auto file = formats::GgufFile::open(
        std::make_unique<formats::InputFile>(fuzz::bytes_of(data, size), "fuzz.gguf"));
    for (const formats::GgufTensor& tensor : file->tensors())
      fuzz::tolerate_refusal([&] { read_first_block(*file, tensor); });
    fuzz::tolerate_refusal([&] { formats::config_from_gguf(*file); });
    fuzz::tolerate_refusal([&] { use_tokenizer(*file); });
  });
  return 0;
}

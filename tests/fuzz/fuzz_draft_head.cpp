// A draft head: its config.json, a zero byte, then its safetensors file; for a target and for none.
#include <algorithm>

#include "core/files/draft_head/head_file.h"
#include "core/files/draft_head/stored_tensors.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* const end = data + size;
  const std::uint8_t* const zero = std::find(data, end, std::uint8_t{0});
  const std::string config(data, zero);
  const std::uint8_t* const file = zero == end ? end : zero + 1;
  formats::TargetShape target;
  target.hidden = 4;
  target.vocab = 6;
  target.layers = 8;
  target.heads = 2;
  target.kv_heads = 1;
  target.head_dim = 2;
  for (const formats::TargetShape& shape : {formats::TargetShape(), target}) {
    fuzz::tolerate_refusal([&] {
      const auto stored = formats::SafeTensors::open(std::make_unique<formats::InputFile>(
          fuzz::bytes_of(file, static_cast<std::size_t>(end - file)), "fuzz.safetensors"));
      const formats::HeadFile head =
          formats::HeadFile::open("fuzz", formats::StoredTensors::of(stored), config, shape);
      for (const std::string& name : head.names()) head.tensor(name).elements();
      head.describe();
    });
  }
  return 0;
}

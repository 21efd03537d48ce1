// generation_config.json beside a good config.json.
#include "core/files/config.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

constexpr const char* kConfig =
    R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16,
        "vocab_size": 300, "num_hidden_layers": 1})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal(
      [&] { formats::config_from_json(kConfig, fuzz::text_of(data, size), "config.json"); });
  return 0;
}

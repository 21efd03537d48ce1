// config.json: every family's reading of it, and where the configuration then expects its tensors.
#include "core/files/config.h"
#include "core/files/weight_names.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] {
    const formats::ModelConfig config =
        formats::config_from_json(fuzz::text_of(data, size), "", "config.json");
    for (int role = 0; role < formats::kRoles; ++role) {
      formats::expected_shape(config, static_cast<formats::Role>(role));
      formats::locate(config, {static_cast<formats::Role>(role)});
    }
  });
  return 0;
}

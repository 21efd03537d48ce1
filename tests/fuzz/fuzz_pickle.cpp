// The pickle of a PyTorch file, without the zip archive around it.
#include "core/files/pickle.h"

#include "tests/fuzz/fuzz.h"

using namespace triescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::tolerate_refusal([&] { formats::read_pickle(fuzz::bytes_of(data, size), "fuzz.pkl"); });
  return 0;
}

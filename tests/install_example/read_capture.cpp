// Links the installed capture library alone: what is in a .tscap file, without libtorch.
#include <cstdio>

#include "core/base/error.h"
#include "core/capture/capture.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: read_capture FILE.tscap\n");
    return 2;
  }
  try {
    const auto capture = triescope::capture::Capture::open(argv[1]);
    std::printf("%lld steps, %lld nodes\n", static_cast<long long>(capture->counts().steps),
                static_cast<long long>(capture->counts().nodes));
  } catch (const triescope::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}

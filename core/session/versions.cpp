#include "core/model/model.h"
#include "core/session/session.h"

namespace triescope {

nlohmann::json versions() {
  const std::string cuda = cuda_version();
  return {{"triescope", TRIESCOPE_VERSION},
          {"libtorch", libtorch_version()},
          {"cuda", cuda.empty() ? "none" : cuda},
          // The kernels are part of this repository and have its version.
          {"kernels", TRIESCOPE_VERSION}};
}

}  // namespace triescope

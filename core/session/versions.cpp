#include "core/model/model.h"
#include "core/session/session.h"

namespace triescope {

nlohmann::json versions() {
  return {{"triescope", TRIESCOPE_VERSION},
          {"libtorch", libtorch_version()},
          {"cuda", cuda_version().empty() ? "none" : cuda_version()},
          // The kernels are part of this repository and have its version.
          {"kernels", TRIESCOPE_VERSION}};
}

}  // namespace triescope

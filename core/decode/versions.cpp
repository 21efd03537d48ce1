#include "core/decode/session.h"
#include "core/model/model.h"

namespace triescope {

nlohmann::json versions() {
  return {{"triescope", TRIESCOPE_VERSION},
          {"libtorch", libtorch_version()},
          {"cuda", cuda_version()},
          // The kernels live in this repository and are numbered with it.
          {"kernels", TRIESCOPE_VERSION}};
}

}  // namespace triescope

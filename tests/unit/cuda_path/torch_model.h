// A model in the libtorch executor, on the CPU: what the tests of the CUDA path load.
#pragma once

#include <memory>
#include <string>

#include "core/files/weights.h"
#include "core/model/transformer.h"

namespace triescope::test {

inline std::unique_ptr<Model> load_torch_model(const std::string& path, DType dtype,
                                               LayerSteps steps = LayerSteps::kKernels,
                                               bool stored_weights = true) {
  ModelInfo info = inspect_model(path);
  info.dtype = dtype;
  return make_torch_transformer(*formats::WeightSource::open(path), info,
                                {.dtype = dtype, .threads = 1, .stored_weights = stored_weights},
                                steps, {}, {});
}

}  // namespace triescope::test

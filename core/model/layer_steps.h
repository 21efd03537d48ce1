// What a layer's steps between its matrix products run on in the libtorch executor.
#pragma once

#include <cstdint>

namespace triescope {

enum class LayerSteps : std::uint8_t {
  kOperations,  // libtorch's
  kKernels,  // kernels::cuda_module()'s; where one is missing or does not suit, kOperations, with
             // a warning in ModelInfo
};

}  // namespace triescope

// Says what runs a layer's steps between its matrix products in the libtorch executor.
#pragma once

#include <cstdint>

namespace triescope {

enum class LayerSteps : std::uint8_t {
  kOperations,  // libtorch's operations
  kKernels,  // kernels::cuda_module()'s; where one is missing or does not suit, kOperations, with
             // a warning in ModelInfo
};

}  // namespace triescope

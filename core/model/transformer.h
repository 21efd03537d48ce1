// The two executors of a ModelConfig. Both are Models; they share nothing but the description and
// the file, so that one can be checked against the other.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "core/base/log.h"
#include "core/formats/weights.h"
#include "core/model/model.h"

namespace triescope {

// core/kernels over prepacked weights. fp32 and bf16; the path-only invariant of model.h.
std::unique_ptr<Model> make_cpu_transformer(const formats::WeightSource& source, ModelInfo info,
                                            const LoadOptions& options,
                                            const ProgressSink& progress, std::stop_token stop);

// What a layer's steps between its matrix products run on in the libtorch executor.
enum class LayerSteps : std::uint8_t {
  kOperations,  // libtorch's
  kKernels,  // kernels::cuda_module()'s; where one is missing or does not suit, kOperations, with
             // a warning in ModelInfo
};

// libtorch's operations, on CPU or CUDA. fp32, bf16, fp16.
std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, LayerSteps steps,
                                              const ProgressSink& progress, std::stop_token stop);

}  // namespace triescope

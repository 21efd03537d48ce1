// The two executors of a ModelConfig. Both are Models; they share only the description and the
// file, so that one can be checked against the other.
#pragma once

#include <memory>
#include <stop_token>

#include "core/base/log.h"
#include "core/files/weights.h"
#include "core/model/layer_steps.h"
#include "core/model/model.h"

namespace triescope {

// Uses core/kernels with prepacked weights, in fp32 and bf16; keeps the path-only invariant of
// model.h.
std::unique_ptr<Model> make_cpu_transformer(const formats::WeightSource& source, ModelInfo info,
                                            const LoadOptions& options,
                                            const ProgressSink& progress, std::stop_token stop);

// Uses libtorch's operations on CPU or CUDA, in fp32, bf16 and fp16.
std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, LayerSteps steps,
                                              const ProgressSink& progress, std::stop_token stop);

}  // namespace triescope

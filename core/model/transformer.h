// The two executors of a ModelConfig. Both are Models; they share nothing but the description and
// the file, so that one can be checked against the other.
#pragma once

#include <memory>
#include <stop_token>

#include "core/base/log.h"
#include "core/formats/weights.h"
#include "core/model/layer_steps.h"
#include "core/model/model.h"

namespace triescope {

// core/kernels over prepacked weights. fp32 and bf16; the path-only invariant of model.h.
std::unique_ptr<Model> make_cpu_transformer(const formats::WeightSource& source, ModelInfo info,
                                            const LoadOptions& options,
                                            const ProgressSink& progress, std::stop_token stop);

// libtorch's operations, on CPU or CUDA. fp32, bf16, fp16.
std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, LayerSteps steps,
                                              const ProgressSink& progress, std::stop_token stop);

}  // namespace triescope

// The embedding of every layer in the libtorch executor (formats::PerLayerConfig). The twin of
// CpuPerLayer; libtorch's operations on any device.
#pragma once

#include "core/kernels/aten.h"
#include "core/model/torch/torch_weights.h"

namespace triescope {

// What tokens give to every layer: [rows, layers, dims] of x's dtype; undefined where the model has no such
// embedding. x [rows, hidden]: the embeddings that enter the first layer; the last `without_token` rows have no token.
at::Tensor per_layer_inputs(const formats::ModelConfig& config, const TorchWeights& weights,
                            const at::Tensor& tokens, const at::Tensor& x,
                            std::int64_t without_token);

// norm(output(act(gate(x)) * input)) for x [rows, hidden], inputs [rows, dims].
at::Tensor per_layer_branch(const formats::ModelConfig& config, const TorchWeights::Layer& layer,
                            const at::Tensor& inputs, const at::Tensor& x);

}  // namespace triescope

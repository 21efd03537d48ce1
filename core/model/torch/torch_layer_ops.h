// A forward's first step, and a layer's three steps between its matrix products and its attention.
// Each reads the result of one product and prepares the input of the next. There are two ways to
// run them, with the same meaning: libtorch's operations, and one kernel of ours a step
// (core/kernels/*.cuh). Immutable.
//
// Tensors are contiguous and have the model's dtype unless stated otherwise. Arithmetic is fp32,
// and every step's result is rounded to the dtype.
#pragma once

#include <memory>
#include <string>

#include "core/files/config.h"
#include "core/kernels/aten.h"
#include "core/model/torch/forward_inputs.h"
#include "core/model/torch/torch_weights.h"

namespace triescope {

class TorchLayerOps {
 public:
  virtual ~TorchLayerOps() = default;

  // The residual stream of a forward's tokens, and the first layer's input.
  struct Embedded {
    at::Tensor x, normed;  // [rows, hidden]
  };
  // x: rows of `table` [vocab, hidden], times the model's scale (rounded to the dtype first), plus
  // rows of `positions` [.., hidden] where these are defined. normed: norm(x) * weight + bias;
  // undefined where the norm has no weight.
  virtual Embedded embed_norm(const TorchMatrix& table, const at::Tensor& positions,
                              const ForwardInputs& in, const TorchNorm& norm) const = 0;

  // Adds a branch's result to the residual stream x [rows, hidden] and normalises it for the next
  // branch: x += h, or x += norm(h) * post where `post` is defined; if h is undefined, x stays. x
  // may be changed in place. Returns norm(x) * weight + bias.
  virtual at::Tensor add_norm(at::Tensor& x, const at::Tensor& h, const at::Tensor& post,
                              const TorchNorm& norm) const = 0;

  // qkv [rows, q, k and v of `heads` as far as its matrix has them] is the layer's product and may be changed.
  // q, k and v are normalised head by head where the model does that, and q and k rotated unless rotation is null;
  // k and v of a layer that has its own are written to keys, values [capacity, kv_heads, head_dim] at slots [rows]
  // int32. Returns q [rows, heads, head_dim], rows perhaps apart (a part of qkv).
  virtual at::Tensor split_qkv(const at::Tensor& qkv, const formats::HeadShape& heads,
                               const TorchWeights::Layer& layer,
                               const ForwardInputs::Rotation* rotation, const at::Tensor& slots,
                               at::Tensor& keys, at::Tensor& values) const = 0;

  // gate_up [rows, 2 * n] -> act(gate) * up [rows, n]; without a gate: act(gate_up).
  virtual at::Tensor activate(const at::Tensor& gate_up) const = 0;
};

// x / rms(x) over the last dimension, in fp32: x is.
at::Tensor rms_scaled(const at::Tensor& x, double eps);
// act(x), of x's dtype.
at::Tensor activated(const at::Tensor& x, formats::Activation activation);

// libtorch's operations, for any model and device.
std::unique_ptr<TorchLayerOps> make_torch_layer_ops(const formats::ModelConfig& config);

// The kernels of kernels::cuda_module(), which must suit (see below). Error{kCuda}: a launch
// failed.
std::unique_ptr<TorchLayerOps> make_cuda_layer_ops(const formats::ModelConfig& config);

// Why the kernels cannot split, normalise and cut this model's q, k and v; "" = they can.
std::string cuda_layer_obstacle(const formats::ModelConfig& config);
// Why the kernels cannot normalise this model's stream; "" = they can.
std::string cuda_norm_obstacle(const formats::ModelConfig& config);

}  // namespace triescope

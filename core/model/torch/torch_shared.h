// TorchShared: what a model of the libtorch executor shares with a draft head on its device:
// Model::embed and Model::output_head without copies through the host. Model::torch_shared()
// returns it, and only files that include libtorch include this one. Calls need c10::InferenceMode
// and the device's guard (on_device of torch_runtime.h); thread-safety is that of the Model.
#pragma once

#include "core/kernels/aten.h"
#include "core/model/layer_steps.h"

namespace triescope {

class TorchShared {
 public:
  virtual ~TorchShared() = default;
  // The device, and the dtype of weights, activations, keys and values.
  virtual const at::TensorOptions& tensor_options() const = 0;
  // The LayerSteps that its layers were asked to use.
  virtual LayerSteps layer_steps() const = 0;
  // Rows of the embedding matrix as they are stored, [tokens, hidden] of the dtype. tokens: int32
  // on the device, ids of the vocabulary (not checked).
  virtual at::Tensor embedding_rows(const at::Tensor& tokens) const = 0;
  // The output head alone over states [rows, hidden] of the dtype -> logits [rows, vocab] fp32 on
  // the device, without softcap.
  virtual at::Tensor head_logits(const at::Tensor& states) const = 0;
};

}  // namespace triescope

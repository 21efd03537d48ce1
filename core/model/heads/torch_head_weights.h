// HeadLoader, HeadEmbedding and HeadOutput (head_weights.h) for a head that runs through libtorch
// on its target's device. Calls need on_device (core/model/torch/torch_runtime.h). Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/files/draft_head/head_file.h"
#include "core/kernels/aten.h"
#include "core/model/torch/torch_linear.h"
#include "core/model/torch/torch_shared.h"
#include "core/model/torch/torch_weights.h"

namespace triescope {

// Reads a head's matrices onto a device. A matrix that has several names is there once. Borrows the
// file.
class TorchHeadLoader {
 public:
  using Linear = std::shared_ptr<const TorchLinear>;
  using Vector = at::Tensor;
  using Layer = TorchWeights::Layer;

  // options: the device, and the dtype of matrices and biases.
  TorchHeadLoader(const formats::HeadFile& file, const at::TensorOptions& options)
      : file_(file), options_(options) {}

  const formats::HeadFile& file() const { return file_; }
  const at::TensorOptions& options() const { return options_; }
  // "NAME.weight" [out, in] and, if it exists, "NAME.bias" [out].
  Linear linear(const std::string& name);
  // Several matrices of one input, stacked below one another.
  TorchLinear stacked(std::span<const std::string> names) const;
  // A vector such as a norm's weight, fp32; undefined where the file has none.
  Vector vector(const std::string& name) const;
  // A transformer layer's weights, as HeadLoader::layer.
  Layer layer(const std::string& prefix) const;

 private:
  const formats::HeadFile& file_;
  const at::TensorOptions options_;
  std::map<std::size_t, Linear> loaded_;  // by HeadTensor::source
};

// Rows of an embedding matrix [V, width]: the head's own, or the target's.
class TorchHeadEmbedding {
 public:
  // `own`: the tensor's name without ".weight"; "" = the target's. Borrows what the target shares.
  TorchHeadEmbedding(TorchHeadLoader& loader, const TorchShared& target, const std::string& own)
      : target_(target), own_(own.empty() ? nullptr : loader.linear(own)) {}
  // tokens: int32 on the device -> [tokens, width] of the dtype.
  at::Tensor rows(const at::Tensor& tokens) const {
    return own_ ? own_->matrix.rows(tokens) : target_.embedding_rows(tokens);
  }

 private:
  const TorchShared& target_;
  TorchHeadLoader::Linear own_;
};

// The output head of a draft head: its own matrix over the draft vocabulary, or the target's.
class TorchHeadOutput {
 public:
  // `own`: the tensor's name without ".weight"; "" = the target's. Reads "d2t". `vocab`: size of
  // the target's vocabulary. Borrows what the target shares.
  TorchHeadOutput(TorchHeadLoader& loader, const TorchShared& target, std::int64_t vocab,
                  const std::string& own);
  // states [rows, hidden] of the dtype, normed where the head norms them. Returns logits [rows,
  // vocab] fp32 on the device, in the target's ids; ids without a draft id are -infinity.
  at::Tensor logits(const at::Tensor& states, double scale = 1) const;
  bool is_same(const TorchHeadOutput& other) const { return own_ == other.own_; }

 private:
  const TorchShared& target_;
  std::int64_t vocab_;
  TorchHeadLoader::Linear own_;
  at::Tensor target_ids_;  // int64 by draft id; undefined: the same ids
};

}  // namespace triescope

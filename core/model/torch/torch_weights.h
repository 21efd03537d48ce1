// The weights of the libtorch executor on its device. Matrices that share an input are one matrix,
// so that one product computes them all; each is dense or in the file's blocks. Norms are fp32.
// Read-only once made, and safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "core/base/log.h"
#include "core/files/weights.h"
#include "core/kernels/aten.h"
#include "core/model/torch/staging_buffer.h"
#include "core/model/torch/torch_linear.h"
#include "core/model/weight_loading.h"

namespace triescope {

// Weight and bias of a norm, [dim] fp32; bias undefined = none.
struct TorchNorm {
  at::Tensor weight, bias;
};

class TorchWeights {
 public:
  struct Mlp {
    TorchLinear gate_up;  // rows: gate, then up; up alone where the MLP has no gate
    TorchLinear down;
  };
  struct Layer {
    TorchNorm attention_norm, mlp_norm;
    TorchLinear qkv;  // rows: q, then k, then v, as far as the layer has them
    TorchLinear output;
    // By expert, then the shared one; a layer without experts has one.
    std::vector<Mlp> mlps;
    TorchLinear router, shared_gate;  // [experts, hidden], [1, hidden]; undefined = none
    // Of a mixture with norms of its own (ExpertsConfig::own_norms), fp32; undefined = none.
    at::Tensor router_scale, expert_scale;
    TorchNorm experts_norm, post_experts_norm, post_shared_norm;
    at::Tensor query_norm, key_norm;                // fp32, of the shape that QkNorm says
    at::Tensor post_attention_norm, post_mlp_norm;  // [hidden] fp32; undefined = none
    at::Tensor sinks;                               // [heads] fp32; undefined = none
    // Of a model with an embedding of every layer: [dims, hidden], [hidden, dims], [hidden] fp32.
    TorchLinear per_layer_gate, per_layer_output;
    at::Tensor post_per_layer_norm;
    at::Tensor scale;  // [1] fp32; undefined = 1
    // Of a convolution, whose qkv is [3 hidden, hidden] (B, C, x): [hidden, taps], [hidden]; undefined = none.
    at::Tensor taps, taps_bias;
    at::Tensor selection_bias;  // [experts] fp32; undefined = none
  };

  // Reads everything, on up to `threads` threads. options: device, and the dtype of the matrices.
  // Matrices in blocks of the types `kept_blocks` stay so. Errors: those of load_weights; kCuda.
  TorchWeights(const formats::WeightSource& source, const at::TensorOptions& options,
               std::set<formats::GgmlType> kept_blocks, int threads, const ProgressSink& progress,
               std::stop_token stop);

  // The average over the matrices that a step multiplies by.
  double bytes_per_weight() const;

  TorchMatrix embedding;            // [vocab, hidden]
  at::Tensor positions;             // [context, hidden] or undefined
  TorchMatrix per_layer_embedding;  // [vocab, layers * dims] or undefined, as the next two
  TorchLinear per_layer_projection;
  at::Tensor per_layer_norm;  // [dims] fp32
  TorchNorm final_norm;
  TorchLinear head;  // the embedding itself where tied
  std::vector<Layer> layers;

 private:
  struct Target {  // where a weight goes: into a matrix or a tensor, at a row
    TorchMatrix* matrix = nullptr;
    at::Tensor* tensor = nullptr;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;  // of the whole tensor
    bool is_norm = false;
  };

  Target target_of(const formats::ModelConfig& config, const formats::Part& part);
  // The type of the blocks that a matrix stays in; nullopt: it is dense.
  std::optional<formats::GgmlType> blocks_of(const formats::WeightSource& source,
                                             const formats::Part& part) const;
  void allocate(const formats::WeightSource& source, const at::TensorOptions& options);
  void place(const formats::WeightSource& source, const WeightTask& task, StagingBuffer& staging);
  static void place_stored(const formats::WeightSource& source, const WeightTask& task,
                           const Target& target, formats::GgmlType type, StagingBuffer& staging);

  const std::set<formats::GgmlType> kept_blocks_;
};

}  // namespace triescope

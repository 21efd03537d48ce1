// The weights of the CPU executor. Matrices are packed for core/kernels in the type of the file;
// those that share an input are one PackedLinear. Vectors are fp32. Read-only once made, and safe
// from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "core/base/log.h"
#include "core/files/weights.h"
#include "core/kernels/linear.h"
#include "core/model/model.h"
#include "core/model/weight_loading.h"

namespace triescope {

class CpuWeights {
 public:
  struct Mlp {
    kernels::PackedLinear gate_up;  // rows: gate, then up; up alone where the MLP has no gate
    kernels::PackedLinear down;
  };
  struct Layer {
    kernels::PackedLinear qkv;  // rows: q, then k, then v, as far as the layer has them
    kernels::PackedLinear output;
    std::vector<Mlp> mlps;  // by expert, then the shared one; a layer without experts has one
    kernels::PackedLinear router;       // [experts, hidden], fp32; empty where there are none
    kernels::PackedLinear shared_gate;  // [1, hidden], fp32; empty: the shared one has no gate
    // Of a mixture with norms of its own (ExpertsConfig::own_norms), else empty.
    std::vector<float> router_scale, expert_scale, experts_norm, post_experts_norm,
        post_shared_norm;
    std::vector<float> attention_norm, attention_norm_bias, mlp_norm, mlp_norm_bias, query_norm,
        key_norm, post_attention_norm, post_mlp_norm, sinks;
    // Of a model with an embedding of every layer: [dims, hidden], [hidden, dims], [hidden].
    kernels::PackedLinear per_layer_gate, per_layer_output;
    std::vector<float> post_per_layer_norm;
    std::vector<float> scale;  // [1] where the model scales its layers
    // Of a convolution, whose qkv is [3 hidden, hidden] (B, C, x): [taps, hidden] and [hidden], or empty.
    std::vector<float> taps, taps_bias;
    std::vector<float> selection_bias;  // [experts], or empty
  };

  // Reads everything, on options.threads threads. Only the options dtype and stored_weights matter.
  // Errors: those of load_weights.
  CpuWeights(const formats::WeightSource& source, const LoadOptions& options,
             const ProgressSink& progress, std::stop_token stop);

  // The average over the matrices that a step multiplies by.
  double bytes_per_weight() const;

  kernels::PackedLinear embedding;  // [vocab, hidden]; also the output layer where tied
  kernels::PackedLinear head;       // empty where tied
  kernels::PackedLinear per_layer_embedding, per_layer_projection;  // or empty
  std::vector<float> positions, final_norm, final_norm_bias, per_layer_norm;
  std::vector<Layer> layers;

 private:
  struct Target {  // where a weight goes: into a matrix at a row offset, or into a vector
    kernels::PackedLinear* matrix = nullptr;
    std::int64_t first_row = 0;
    bool is_bias = false;
    std::vector<float>* vector = nullptr;
  };

  // The layout in memory of a matrix with `outputs` rows.
  kernels::PackedLinear::Part part_of(const formats::WeightSource& source,
                                      const formats::Part& part, std::int64_t outputs) const;
  void allocate(const formats::WeightSource& source);
  Target target_of(const formats::Part& part);
  void place(const formats::WeightSource& source, const WeightTask& task);

  const formats::ModelConfig config_;
  const kernels::Precision precision_;  // LoadOptions::dtype
  const bool stored_;                   // LoadOptions::stored_weights
};

// The average over the layers' matrices and one more (which may be empty).
double bytes_per_weight(std::span<const CpuWeights::Layer> layers,
                        const kernels::PackedLinear& other);

}  // namespace triescope

// The decoder layers of a CPU executor. The transformer (transformer_cpu.cpp) puts embeddings
// before them and an output head behind them, a draft head (core/model/heads/eagle_model.cpp) its own.
// They use core/kernels with packed weights; activations are fp32.
//
//   h = x + o(attention(rope(qkv(norm(x)))))      out = h + down(act(gate(norm(h))) * up(norm(h)))
//
// ModelConfig says which norms there are and which stream the MLP reads. A branch without a norm
// before it reads x itself. In a layer with experts the MLP is a mixture of them (cpu_experts.h); behind it a layer
// may take its own embedding of the token (cpu_per_layer.h). Path only: every kernel used here computes a
// row from that row and what it sees, in one fixed order, so the whole does too. Scratch is kept
// from one run to the next: not thread-safe. Borrows the configuration and the pool.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/cpu_experts.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_per_layer.h"
#include "core/model/cpu/cpu_qkv.h"
#include "core/model/cpu/cpu_short_conv.h"
#include "core/model/cpu/cpu_weights.h"
#include "core/model/expert_notes.h"
#include "core/model/layer_route.h"
#include "core/model/mask_rows.h"
#include "core/model/visible_slots.h"

namespace triescope {

class CpuLayers {
 public:
  CpuLayers(const formats::ModelConfig& config, kernels::Precision precision, ThreadPool& pool);

  // Rows that go through the layers together; text_length is as in ForwardBatch.
  struct Rows {
    std::span<const std::int32_t> positions, slots;  // [rows]
    VisibleSlots visible;
    std::int32_t text_length = 0;
    // [rows, inputs of the first layer's qkv]: the input of that layer's q, k and v in place of
    // norm(x). Empty: norm(x), as in every other layer.
    std::span<const float> first_input = {};
    // Those of ForwardBatch.
    std::span<const std::int32_t> sublayers = {};
    // Of a batch with masks: their lists, which `visible` leaves out. Null: it has none.
    MaskRows* masks = nullptr;
    // Takes what the rows choose in a mixture; the rows are those from first_row on of its batch.
    ExpertNotes* experts = nullptr;
    std::size_t first_row = 0;
    // Of a model with an embedding of every layer: CpuPerLayer::inputs().
    std::span<const float> per_layer = {};
  };
  // The residual stream x [rows, hidden]: fill it, then run(). Valid until the next call.
  std::span<float> residual(std::size_t rows);
  // Called with x as it enters each layer.
  using EnterLayer = std::function<void(std::int32_t layer)>;
  // Error{kCancelled}: stop was requested, which is checked before every layer.
  void run(const Rows& rows, std::span<const CpuWeights::Layer> weights, CpuKv& kv,
           const std::stop_token& stop, const EnterLayer& enter);

  // Writes K and V of rows that have no stream: in every layer those of `context` [rows, hidden], where other rows have
  // those of norm(x). What the rows see is not looked at. Errors: run's.
  void store_context(const Rows& rows, std::span<const float> context,
                     std::span<const CpuWeights::Layer> weights, CpuKv& kv,
                     const std::stop_token& stop);

  // Normalises rows [hidden] as configured; in place is allowed. Only LayerNorm reads `bias`. Row r
  // of the result is at out + r * out_stride.
  void normalise(const float* x, std::int64_t rows, const std::vector<float>& weight,
                 const std::vector<float>& bias, float* out, std::int64_t out_stride);

 private:
  // attention_ <- the attention of the layer whose queries qkv_ has.
  void attend(const Rows& rows, const RouteStep& step, const CpuWeights::Layer& layer,
              const CpuKv& storage);
  using Input = CpuRows;
  // norm(x), or x itself where there is no weight. Valid until the next call.
  Input normed(std::int64_t rows, const std::vector<float>& weight, const std::vector<float>& bias);
  // x += linear(in), with a norm or a scale between where the family has one.
  void add_branch(const kernels::PackedLinear& linear, Input in, std::int64_t rows,
                  const std::vector<float>& post);
  // x += branch_, through the same.
  void take_up_branch(std::int64_t rows, const std::vector<float>& post);
  // x += MLP(in).
  void run_mlp(const CpuWeights::Layer& layer, Input in, std::int64_t rows);

  const formats::ModelConfig& config_;
  ThreadPool& pool_;
  CpuQkv qkv_;
  CpuShortConv conv_;
  CpuExperts experts_;
  CpuPerLayerBranch per_layer_;

  std::vector<float> x_, normed_, attention_, inner_, branch_;
};

}  // namespace triescope

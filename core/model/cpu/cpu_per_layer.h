// The embedding of every layer on the CPU (formats::PerLayerConfig). Path only: a row depends on its token and its
// stream alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/cpu/cpu_weights.h"

namespace triescope {

// Scratch is kept from one run to the next: not thread-safe. Borrows the configuration, weights and pool.
class CpuPerLayer {
 public:
  CpuPerLayer(const formats::ModelConfig& config, const CpuWeights& weights, ThreadPool& pool)
      : config_(config), weights_(weights), pool_(pool) {}

  // What tokens give to every layer: [rows, layers, dims], valid until the next call; empty where the model has no
  // such embedding. x [rows, hidden]: the embeddings that enter the first layer, of the tokens and then of
  // rows without one.
  std::span<const float> inputs(std::span<const std::int32_t> tokens, std::span<const float> x);

 private:
  const formats::ModelConfig& config_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::vector<float> inputs_, row_;
};

// x [rows, hidden] += norm(output(act(gate(x)) * input)) in layer `index`; `inputs` are those of all layers.
// Scratch as above.
class CpuPerLayerBranch {
 public:
  CpuPerLayerBranch(const formats::ModelConfig& config, ThreadPool& pool)
      : config_(config), pool_(pool) {}
  void add(std::size_t index, const CpuWeights::Layer& layer, std::span<const float> inputs,
           std::span<float> x);

 private:
  const formats::ModelConfig& config_;
  ThreadPool& pool_;
  std::vector<float> inner_, branch_;
};

}  // namespace triescope

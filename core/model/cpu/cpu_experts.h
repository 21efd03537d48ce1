// The MLPs of a layer on the CPU: the one of a dense layer up to its last matrix, and a mixture of
// experts as a whole.
//
//   mixture(x) = sum over the chosen experts of weight * mlp(x), by ascending index, + shared(x)
//
// Where the mixture has norms of its own (ExpertsConfig::own_norms), s is the stream of which x is a norm:
//
//   mixture(x, s) = norm(sum over the experts of weight * mlp(norm(s))) + norm(shared(x))
//
// and the router reads scale * normed(s) / sqrt(hidden).
// Rows that chose an expert go through it together, and an expert that no row chose is not read.
// Path only: a row's sum has one order, and every kernel computes a row from that row alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/files/config.h"
#include "core/kernels/activation.h"
#include "core/kernels/router.h"
#include "core/model/cpu/cpu_weights.h"

namespace triescope {

struct CpuRows {  // of a linear layer's input, `stride` apart
  const float* values;
  std::int64_t stride;
};

// The kernels' name of a configuration's activation.
kernels::ActivationKind activation_kind(formats::Activation activation);

// y[r] <- act(gate(x[r])) * up(x[r]), or act(up(x[r])) where the MLP has no gate. Rows of y are
// `stride` apart.
void run_mlp_inner(const formats::ModelConfig& config, const CpuWeights::Mlp& mlp, CpuRows x,
                   std::int64_t rows, float* y, std::int64_t stride, ThreadPool& pool);

// Scratch is kept from one run to the next: not thread-safe. Borrows the configuration and the pool.
class CpuExperts {
 public:
  CpuExperts(const formats::ModelConfig& config, ThreadPool& pool) : config_(config), pool_(pool) {}

  // out [rows, hidden] <- mixture(x) of a layer with experts. `stream` is read only by one with norms of its own.
  void run(const CpuWeights::Layer& layer, CpuRows x, CpuRows stream, std::int64_t rows,
           float* out);
  // The experts that each row of the last run chose: [rows, used], by ascending index.
  std::span<const kernels::ChosenExpert> chosen() const { return chosen_; }

 private:
  // out <- norm(x), rows `stride` apart; x may be out.
  void normalise(CpuRows x, const std::vector<float>& weight, std::int64_t rows, float* out,
                 std::int64_t stride);
  // norm(x) in normed_. Valid until the next call.
  CpuRows normed(CpuRows x, const std::vector<float>& weight, std::int64_t rows);
  void choose(const CpuWeights::Layer& layer, CpuRows x, CpuRows stream, std::int64_t rows);
  // y_ [rows, hidden] <- mlp(x).
  void run_mlp(const CpuWeights::Mlp& mlp, CpuRows x, std::int64_t rows);
  void add_shared(const CpuWeights::Layer& layer, CpuRows x, std::int64_t rows, float* out);

  const formats::ModelConfig& config_;
  ThreadPool& pool_;
  std::vector<kernels::ChosenExpert> chosen_;
  struct Visit {  // of a row to an expert
    std::int64_t row;
    float weight;
  };
  std::vector<std::vector<Visit>> visits_;  // by expert
  std::vector<float> logits_, normed_, x_, inner_, y_, gates_;
};

}  // namespace triescope

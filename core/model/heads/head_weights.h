// Shared by the draft heads for loading and running on the CPU kernels: packed matrices from a
// HeadFile, the embedding that they read (their own or the target's), and the draft vocabulary,
// mapped to the target's ids. Not thread-safe: they use the head's pool and the target.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/files/draft_head/head_file.h"
#include "core/kernels/linear.h"
#include "core/model/cpu/cpu_weights.h"
#include "core/model/model.h"

namespace triescope {

// Reads a head's matrices in the types of the file; with bf16, matrices of more bits are rounded. A
// matrix that has several names is packed once. Borrows file and pool.
class HeadLoader {
 public:
  using Linear = std::shared_ptr<const kernels::PackedLinear>;
  using Vector = std::vector<float>;
  using Layer = CpuWeights::Layer;

  HeadLoader(const formats::HeadFile& file, kernels::Precision precision, ThreadPool& pool)
      : file_(file), precision_(precision), pool_(pool) {}

  const formats::HeadFile& file() const { return file_; }
  ThreadPool& pool() const { return pool_; }
  // "NAME.weight" [out, in] and, if it exists, "NAME.bias" [out].
  Linear linear(const std::string& name);
  // Several matrices of one input, stacked below one another.
  kernels::PackedLinear stacked(std::span<const std::string> names) const;
  // A vector such as a norm's weight; empty where the file has none.
  Vector vector(const std::string& name) const;
  // A transformer layer's weights; its tensors are called PREFIX + "self_attn.q_proj.weight" and so
  // on.
  Layer layer(const std::string& prefix) const;

 private:
  const formats::HeadFile& file_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  std::map<std::size_t, Linear> packed_;  // by HeadTensor::source
};

// Rows of an embedding matrix [V, width]: the head's own, or the target's.
class HeadEmbedding {
 public:
  // `own`: the tensor's name without ".weight"; "" = the target's. Borrows the target.
  HeadEmbedding(HeadLoader& loader, Model& target, const std::string& own);
  std::size_t width() const { return width_; }
  // Writes the tokens' rows to out[i * stride ..], width() values each.
  void read(std::span<const std::int32_t> tokens, float* out, std::size_t stride);

 private:
  Model& target_;
  std::shared_ptr<const kernels::PackedLinear> own_;
  std::size_t width_;
  std::vector<float> rows_;  // the target's
};

// The output head of a draft head: its own matrix over the draft vocabulary, or the target's.
class HeadOutput {
 public:
  // `own`: the tensor's name without ".weight"; "" = the target's. Reads "d2t". Borrows the target.
  HeadOutput(HeadLoader& loader, Model& target, const std::string& own);
  // states [rows, hidden], normed where the head norms them. Returns logits [rows, V] in the
  // target's ids; ids without a draft id are -infinity. Valid until the next call.
  std::span<const float> logits(std::span<const float> states, double scale = 1);
  bool is_same(const HeadOutput& other) const { return own_ == other.own_; }

 private:
  Model& target_;
  ThreadPool& pool_;
  std::shared_ptr<const kernels::PackedLinear> own_;
  std::size_t vocab_;
  std::vector<std::int32_t> target_ids_;  // by draft id; empty: the same ids
  std::vector<float> drafted_, logits_;
};

}  // namespace triescope

// The hidden states that a batch asks for, in the libtorch executor. They stay on the device until
// the rest of the forward is there, so that nothing waits for a copy to the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/aten.h"
#include "core/model/model.h"
#include "core/model/torch/staging_buffer.h"

namespace triescope {

class TorchFeatures {
 public:
  // rows: batch.feature_rows as int32 on the device. Borrows the batch.
  TorchFeatures(const ForwardBatch& batch, const at::Tensor& rows)
      : layers_(batch.feature_layers), rows_(rows), kept_(layers_.size()) {}
  // Copies the requested rows of x, [rows of the batch, hidden], this layer's.
  void keep(const at::Tensor& x, std::int32_t layer);
  // Call once all are kept. The work is queued on the device without waiting, so that what is
  // queued next follows without a pause.
  void join();
  // Waits and returns [layers, rows, hidden] fp32 in `memory`; empty if nothing was asked for.
  // REQUIRES: join().
  std::span<const float> on_host(StagingBuffer& memory) const;

 private:
  std::span<const std::int32_t> layers_;
  at::Tensor rows_;
  std::vector<at::Tensor> kept_;
  at::Tensor joined_;
};

}  // namespace triescope

// Attention through libtorch's operations, for any device and head size: gathers the slots that
// rows see, and masks what a row does not see of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/files/config.h"
#include "core/model/mask_rows.h"
#include "core/model/torch/layer_attention.h"
#include "core/model/visible_slots.h"

namespace triescope {

class TorchOpsAttention final : public LayerAttention {
 public:
  // Borrows config. capacity: number of slots of the KV storage.
  // `masks`: those of the batch, whose all() `visible` is: windows do not leave out their prefix;
  // null: it has none.
  TorchOpsAttention(const formats::ModelConfig& config, const VisibleSlots& visible,
                    std::int64_t rows, int capacity, const at::Device& device,
                    const MaskRows* masks = nullptr);

  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                    int window, const at::Tensor& sinks) const override;

 private:
  // The slots that any of rows [begin, end) sees, and for each window the additive mask [rows,
  // slots] over them.
  struct Sight {
    std::int64_t begin = 0, end = 0;
    at::Tensor slots;
    std::vector<std::pair<int, at::Tensor>> masks;  // by window
    const at::Tensor& mask(int window) const;
  };

  Sight sight_of(const VisibleSlots& visible, std::int64_t begin, std::int64_t end, int capacity,
                 const at::Device& device, const MaskRows* masks) const;

  const formats::ModelConfig& config_;
  std::vector<Sight> sights_;  // by block of rows, so that prefill's scores stay small
};

}  // namespace triescope

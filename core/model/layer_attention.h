// Attention of one forward in the libtorch executor: made for a batch, used by every layer.
#pragma once

#include <ATen/ATen.h>

namespace triescope {

class LayerAttention {
 public:
  virtual ~LayerAttention() = default;
  // q: [rows, heads, head_dim], a row's values together, rows perhaps apart; keys, values: [slots,
  // kv_heads, head_dim]; one dtype. K and V of the batch's own rows are written already. window: of
  // this layer, 0 = none. -> [rows, heads * head_dim], contiguous.
  virtual at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                            int window) const = 0;
};

}  // namespace triescope

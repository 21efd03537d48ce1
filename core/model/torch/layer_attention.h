// Attention of one forward in the libtorch executor. It is made for a batch, and every layer uses
// it.
#pragma once

#include "core/kernels/aten.h"

namespace triescope {

class LayerAttention {
 public:
  virtual ~LayerAttention() = default;
  // q: [rows, heads, head_dim]; the values of a row are contiguous, its rows perhaps apart. keys,
  // values: [slots, kv_heads, head_dim]. All have one dtype. K and V of the batch's own rows are
  // written already. window: this layer's, 0 = none. sinks: this layer's, [heads] fp32;
  // undefined = none. Returns [rows, heads * head_dim], contiguous.
  virtual at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                            int window, const at::Tensor& sinks) const = 0;
};

}  // namespace triescope

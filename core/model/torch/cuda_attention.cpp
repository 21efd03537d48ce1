#include "core/model/torch/cuda_attention.h"

#include <algorithm>
#include <vector>

#include "core/kernels/cuda_module.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/row_bucket.h"

namespace triescope {

std::string CudaAttention::obstacle(const formats::ModelConfig& config) {
  std::vector<int> sizes = {config.head_dim};
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    sizes.push_back(config.heads_of(i).head_dim);
  for (const int size : sizes)
    if (size % 8 != 0 || size > 256)
      return "the kernel takes head sizes that are multiples of 8 up to 256, and this model's is " +
             std::to_string(size);
  if (config.attention_sinks) return "the kernel does not know this model's attention sinks";
  return kernels::cuda_module().reason;
}

CudaAttention::CudaAttention(const formats::ModelConfig& config, const ForwardInputs& inputs,
                             const VisibleSlots& visible)
    : config_(config), inputs_(inputs) {
  const auto rows = static_cast<std::size_t>(inputs.slots.size(0));
  std::size_t own = rows;
  if (!visible.offsets.empty()) {
    own = 0;
    for (std::size_t r = 0; r < rows; ++r) own = std::max(own, visible.of(r).size());
  }
  longest_ = static_cast<std::int64_t>(visible.prefix.size() + own);
}

at::Tensor CudaAttention::attend(const at::Tensor& q, const at::Tensor& keys,
                                 const at::Tensor& values, int window,
                                 const at::Tensor& /*sinks*/) const {
  const kernels::CudaModule& module = kernels::cuda_module();
  const auto heads = static_cast<std::int32_t>(q.size(1)),
             head_dim = static_cast<std::int32_t>(q.size(2));
  const at::Tensor out = bucket_rows(q.size(0), heads * head_dim, q.options());
  TriescopeTreeAttention call = {};
  call.q = q.const_data_ptr();
  call.q_stride = q.stride(0);
  call.out_stride = heads * head_dim;
  call.keys = keys.const_data_ptr();
  call.values = values.const_data_ptr();
  call.out = out.mutable_data_ptr();
  call.prefix = inputs_.prefix.const_data_ptr<std::int32_t>();
  call.own = inputs_.own.const_data_ptr<std::int32_t>();
  call.offsets =
      inputs_.offsets.numel() > 0 ? inputs_.offsets.const_data_ptr<std::int32_t>() : nullptr;
  call.prefix_count = static_cast<std::int32_t>(inputs_.prefix.numel());
  call.longest = static_cast<std::int32_t>(longest_);
  call.rows = static_cast<std::int32_t>(q.size(0));
  call.heads = heads;
  call.kv_heads = static_cast<std::int32_t>(keys.size(1));
  call.head_dim = head_dim;
  call.window = window;
  call.scale = config_.attention_scale;
  call.softcap = config_.attention_softcap;
  call.dtype = kernel_dtype(q);
  call.scratch_bytes =
      module.tree_attention_scratch(call.rows, call.heads, call.head_dim, call.longest);
  // libtorch's allocator reuses the scratch only for later work of the same stream.
  const at::Tensor scratch =
      at::empty({static_cast<std::int64_t>(call.scratch_bytes)}, q.options().dtype(at::kByte));
  call.scratch = call.scratch_bytes > 0 ? scratch.mutable_data_ptr() : nullptr;
  check_launch(module.tree_attention(&call, kernel_stream(q)), "tree attention", q);
  return out;
}

}  // namespace triescope

#include "core/model/cuda_attention.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"

namespace triescope {
namespace {

at::Tensor to_device(std::span<const std::int32_t> values, const at::Device& device) {
  return at::tensor(at::ArrayRef<std::int32_t>(values.data(), values.size()), at::kInt).to(device);
}

std::int32_t kernel_dtype(at::ScalarType type) {
  if (type == at::kFloat) return kTriescopeF32;
  return type == at::kHalf ? kTriescopeF16 : kTriescopeBF16;
}

}  // namespace

std::string CudaAttention::obstacle(const formats::ModelConfig& config) {
  if (config.head_dim % 8 != 0 || config.head_dim > 256)
    return "the kernel takes head sizes that are multiples of 8 up to 256, and this model's is " +
           std::to_string(config.head_dim);
  return kernels::cuda_module().reason;
}

CudaAttention::CudaAttention(const VisibleSlots& visible, std::int64_t rows,
                             const at::Device& device)
    : device_(device),
      prefix_(to_device(visible.prefix, device)),
      own_(to_device(visible.own, device)) {
  std::size_t own = static_cast<std::size_t>(rows);
  if (!visible.offsets.empty()) {
    offsets_ = to_device(visible.offsets, device);
    own = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
      own = std::max(own, visible.of(r).size());
  }
  longest_ = static_cast<std::int64_t>(visible.prefix.size() + own);
}

at::Tensor CudaAttention::attend(const at::Tensor& q, const at::Tensor& keys,
                                 const at::Tensor& values, const formats::ModelConfig& config,
                                 int window) const {
  const kernels::CudaModule& module = kernels::cuda_module();
  const at::Tensor queries = q.contiguous();
  const std::int64_t rows = queries.size(0);
  const at::Tensor out = at::empty({rows, config.query_dims()}, queries.options());
  TriescopeTreeAttention call = {};
  call.q = queries.const_data_ptr();
  call.q_stride = call.out_stride = config.query_dims();
  call.keys = keys.const_data_ptr();
  call.values = values.const_data_ptr();
  call.out = out.mutable_data_ptr();
  call.prefix = prefix_.const_data_ptr<std::int32_t>();
  call.own = own_.const_data_ptr<std::int32_t>();
  call.offsets = offsets_.defined() ? offsets_.const_data_ptr<std::int32_t>() : nullptr;
  call.prefix_count = static_cast<std::int32_t>(prefix_.numel());
  call.longest = static_cast<std::int32_t>(longest_);
  call.rows = static_cast<std::int32_t>(rows);
  call.heads = config.heads;
  call.kv_heads = config.kv_heads;
  call.head_dim = config.head_dim;
  call.window = window;
  call.scale = config.attention_scale;
  call.softcap = config.attention_softcap;
  call.dtype = kernel_dtype(queries.scalar_type());
  call.scratch_bytes =
      module.tree_attention_scratch(call.rows, call.heads, call.head_dim, call.longest);
  // libtorch's allocator hands the scratch out again only to work later in the same stream.
  const at::Tensor scratch = at::empty({static_cast<std::int64_t>(call.scratch_bytes)},
                                       queries.options().dtype(at::kByte));
  call.scratch = call.scratch_bytes > 0 ? scratch.mutable_data_ptr() : nullptr;
  void* stream = nullptr;  // stays so on a CPU (tests, with a stand-in for the module)
  if (device_.is_cuda()) {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    stream = guard.getStreamNativeHandle(guard.getStream(queries.device()));
  }
  if (const int code = module.tree_attention(&call, stream); code != 0) {
    throw Error(ErrorCode::kCuda, std::string("tree attention on ") + device_.str() + ": " +
                                      module.error_string(code));
  }
  return out;
}

}  // namespace triescope

#include <algorithm>

#include "core/kernels/aten.h"
#include "core/kernels/reference.h"

namespace triescope::kernels {

namespace {

std::vector<std::int64_t> list_of(const VisibleSlots& visible, std::int64_t row, int window) {
  std::vector<std::int64_t> list(visible.prefix.begin(), visible.prefix.end());
  const auto own = visible.of(static_cast<std::size_t>(row));
  list.insert(list.end(), own.begin(), own.end());
  if (window > 0 && std::cmp_greater(list.size(), window))
    list.erase(list.begin(), list.end() - window);
  return list;
}

}  // namespace

std::vector<float> tree_attention_ref(const float* q, std::int64_t rows, const float* keys,
                                      const float* values, std::int64_t slots,
                                      const AttentionShape& shape, const VisibleSlots& visible) {
  const auto wide = [](const float* p, at::IntArrayRef dims) {
    return at::from_blob(const_cast<float*>(p), dims, at::kFloat).to(at::kDouble);
  };
  const at::Tensor queries = wide(q, {rows, shape.heads, shape.head_dim});
  const at::Tensor k = wide(keys, {slots, shape.kv_heads, shape.head_dim});
  const at::Tensor v = wide(values, {slots, shape.kv_heads, shape.head_dim});
  std::vector<float> out;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto list = list_of(visible, r, shape.window);
    const at::Tensor index = at::tensor(list, at::kLong);
    const auto seen = [&](const at::Tensor& t) {  // [heads, list, head_dim]
      return t.index_select(0, index).transpose(0, 1).repeat_interleave(
          shape.heads / shape.kv_heads, 0);
    };
    at::Tensor s =
        at::matmul(seen(k), queries[r].unsqueeze(2)).squeeze(2) * static_cast<double>(shape.scale);
    if (shape.softcap > 0)
      s = at::tanh(s / static_cast<double>(shape.softcap)) * static_cast<double>(shape.softcap);
    const std::int64_t seen_slots = s.size(1);
    if (shape.sinks != nullptr) s = at::cat({s, wide(shape.sinks, {shape.heads, 1})}, 1);
    const at::Tensor y =
        at::matmul(at::softmax(s, 1).narrow(1, 0, seen_slots).unsqueeze(1), seen(v))
            .squeeze(1)
            .to(at::kFloat)
            .contiguous();
    out.insert(out.end(), y.const_data_ptr<float>(), y.const_data_ptr<float>() + y.numel());
  }
  return out;
}

}  // namespace triescope::kernels

#include "core/kernels/aten.h"
#include "core/kernels/reference.h"

namespace triescope::kernels {

std::vector<float> linear_ref(const float* w, const float* bias, const float* x, std::int64_t rows,
                              std::int64_t n, std::int64_t k) {
  const auto wide = [](const float* p, at::IntArrayRef shape) {
    return at::from_blob(const_cast<float*>(p), shape, at::kFloat).to(at::kDouble);
  };
  at::Tensor y = at::matmul(wide(x, {rows, k}), wide(w, {n, k}).t());
  if (bias != nullptr) y = y + wide(bias, {n});
  y = y.to(at::kFloat).contiguous();
  const float* out = y.const_data_ptr<float>();
  return {out, out + y.numel()};
}

}  // namespace triescope::kernels

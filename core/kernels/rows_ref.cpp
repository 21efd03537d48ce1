#include "core/kernels/aten.h"
#include "core/kernels/reference.h"

namespace triescope::kernels {

namespace {

at::Tensor wide(const float* p, at::IntArrayRef dims) {
  return at::from_blob(const_cast<float*>(p), dims, at::kFloat).to(at::kDouble);
}

std::vector<float> narrow(const at::Tensor& t) {
  const at::Tensor f = t.to(at::kFloat).contiguous();
  return {f.const_data_ptr<float>(), f.const_data_ptr<float>() + f.numel()};
}

}  // namespace

std::vector<float> rms_norm_ref(const float* x, std::int64_t rows, std::int64_t dim,
                                const float* weight, float eps, bool plus_one) {
  const at::Tensor t = wide(x, {rows, dim});
  at::Tensor y = t * at::rsqrt(t.square().mean(1, true) + static_cast<double>(eps));
  if (weight != nullptr) y = y * (wide(weight, {dim}) + (plus_one ? 1.0 : 0.0));
  return narrow(y);
}

std::vector<float> layer_norm_ref(const float* x, std::int64_t rows, std::int64_t dim,
                                  const float* weight, const float* bias, float eps) {
  const at::Tensor w = weight == nullptr ? at::ones({dim}, at::kDouble) : wide(weight, {dim});
  const at::Tensor b = bias == nullptr ? at::zeros({dim}, at::kDouble) : wide(bias, {dim});
  return narrow(at::layer_norm(wide(x, {rows, dim}), {dim}, w, b, static_cast<double>(eps)));
}

std::vector<float> gated_activation_ref(ActivationKind kind, const float* gate, const float* up,
                                        std::int64_t count) {
  const at::Tensor g = wide(gate, {count});
  at::Tensor y = kind == ActivationKind::kSilu
                     ? at::silu(g)
                     : at::gelu(g, kind == ActivationKind::kGeluTanh ? "tanh" : "none");
  if (up != nullptr) y = y * wide(up, {count});
  return narrow(y);
}

std::vector<float> rope_ref(const float* x, std::int64_t rows, int heads, int head_dim, int dims,
                            const float* cos, const float* sin) {
  const at::Tensor t = wide(x, {rows, heads, head_dim});
  const auto both = [&](const float* p) {
    const at::Tensor half = wide(p, {rows, 1, dims / 2});
    return at::cat({half, half}, 2);
  };
  const at::Tensor x1 = t.narrow(2, 0, dims);
  const at::Tensor x2 = at::cat({-x1.narrow(2, dims / 2, dims / 2), x1.narrow(2, 0, dims / 2)}, 2);
  return narrow(at::cat({x1 * both(cos) + x2 * both(sin), t.narrow(2, dims, head_dim - dims)}, 2));
}

std::vector<float> log_softmax_ref(const float* row, std::int64_t n) {
  return narrow(at::log_softmax(wide(row, {n}), 0));
}

std::vector<std::pair<float, std::int32_t>> top_k_ref(const float* row, std::int64_t n,
                                                      std::int64_t k) {
  const at::Tensor t = at::from_blob(const_cast<float*>(row), {n}, at::kFloat);
  const auto [values, indices] = at::sort(t, /*stable=*/true, 0, /*descending=*/true);
  std::vector<std::pair<float, std::int32_t>> best;
  for (std::int64_t i = 0; i < std::min(n, k); ++i) {
    best.emplace_back(values.const_data_ptr<float>()[i],
                      static_cast<std::int32_t>(indices.const_data_ptr<std::int64_t>()[i]));
  }
  return best;
}

}  // namespace triescope::kernels

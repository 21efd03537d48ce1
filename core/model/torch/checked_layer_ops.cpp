#include "core/model/torch/checked_layer_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace triescope {
namespace {

using at::Tensor;

class CheckedLayerOps final : public TorchLayerOps {
 public:
  CheckedLayerOps(const formats::ModelConfig& config, const KernelObstacles& obstacles)
      : cuda_(make_cuda_layer_ops(config)),
        torch_(make_torch_layer_ops(config)),
        embedding_(chosen(obstacles.embed_norm)),
        norm_(chosen(obstacles.add_norm)),
        qkv_(chosen(obstacles.split_qkv)),
        activation_(chosen(obstacles.activation)) {}

  Embedded embed_norm(const TorchMatrix& table, const Tensor& positions, const ForwardInputs& in,
                      const TorchNorm& norm) const override {
    return embedding_.embed_norm(table, positions, in, norm);
  }
  Tensor add_norm(Tensor& x, const Tensor& h, const Tensor& post,
                  const TorchNorm& norm) const override {
    return norm_.add_norm(x, h, post, norm);
  }
  Tensor split_qkv(const Tensor& qkv, const formats::HeadShape& heads,
                   const TorchWeights::Layer& layer, const ForwardInputs::Rotation* rotation,
                   const Tensor& slots, Tensor& keys, Tensor& values) const override {
    return qkv_.split_qkv(qkv, heads, layer, rotation, slots, keys, values);
  }
  Tensor activate(const Tensor& gate_up) const override { return activation_.activate(gate_up); }

 private:
  const TorchLayerOps& chosen(const std::string& obstacle) const {
    return obstacle.empty() ? *cuda_ : *torch_;
  }

  const std::unique_ptr<TorchLayerOps> cuda_, torch_;
  const TorchLayerOps &embedding_, &norm_, &qkv_, &activation_;
};

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string sentence(const std::vector<std::string>& steps, std::size_t all,
                     const std::string& reason) {
  const bool attention_alone = steps.size() == 1 && steps[0] == "attention";
  const std::string what =
      steps.size() == all
          ? "layers run on libtorch's operations instead of the CUDA kernels"
          : listed(steps) +
                (attention_alone
                     ? " runs on libtorch's operations instead of the tree-attention kernel"
                     : " run on libtorch's operations instead of a kernel");
  return what + ", with the same result and more slowly: " + reason;
}

}  // namespace

std::unique_ptr<TorchLayerOps> make_checked_layer_ops(const formats::ModelConfig& config,
                                                      const KernelObstacles& obstacles) {
  return std::make_unique<CheckedLayerOps>(config, obstacles);
}

std::string warning_of(const KernelObstacles& obstacles) {
  const std::pair<const char*, const std::string&> steps[] = {
      {"embeddings", obstacles.embed_norm},
      {"norms", obstacles.add_norm},
      {"rotary positions", obstacles.split_qkv},
      {"activations", obstacles.activation},
      {"attention", obstacles.attention}};
  // by reason: the steps that it concerns
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& [step, reason] : steps) {
    if (reason.empty()) continue;
    const auto known = std::ranges::find_if(
        reasons, [&why = reason](const auto& entry) { return entry.first == why; });
    if (known != reasons.end()) {
      known->second.emplace_back(step);
    } else {
      reasons.push_back({reason, {step}});
    }
  }
  std::string text;
  for (const auto& [reason, named] : reasons)
    text += (text.empty() ? "" : "; ") + sentence(named, std::size(steps), reason);
  return text;
}

}  // namespace triescope

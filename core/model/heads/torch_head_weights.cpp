#include "core/model/heads/torch_head_weights.h"

#include <limits>
#include <vector>

#include "core/model/heads/head_tensors.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

using at::Tensor;

TorchLinear TorchHeadLoader::stacked(std::span<const std::string> names) const {
  const StackedShape shape = stacked_shape(file_, names);
  const TorchMatrix::Part dense{.outputs = shape.outputs, .blocks = {}};
  TorchLinear linear{TorchMatrix({&dense, 1}, shape.inputs, options_), {}};
  if (shape.has_bias) linear.bias = at::zeros({shape.outputs}, options_);
  std::int64_t first = 0;
  for (const std::string& name : names) {
    const formats::HeadTensor weight = file_.tensor(name + ".weight");
    const std::int64_t rows = weight.shape[0];
    linear.matrix.set_rows(first, rows_tensor(weight.floats(), rows, at::kFloat));
    if (file_.has(name + ".bias")) linear.bias.narrow(0, first, rows).copy_(vector(name + ".bias"));
    first += rows;
  }
  return linear;
}

TorchHeadLoader::Linear TorchHeadLoader::linear(const std::string& name) {
  Linear& loaded = loaded_[file_.source(name + ".weight")];
  if (!loaded) loaded = std::make_shared<const TorchLinear>(stacked({&name, 1}));
  return loaded;
}

Tensor TorchHeadLoader::vector(const std::string& name) const {
  if (!file_.has(name)) return {};
  return rows_tensor(file_.tensor(name).floats(), 1, options_.dtype(at::kFloat)).flatten();
}

TorchWeights::Layer TorchHeadLoader::layer(const std::string& prefix) const {
  const LayerTensors names(prefix);
  TorchWeights::Layer layer;
  layer.qkv = stacked(names.qkv);
  layer.output = stacked(names.output);
  layer.mlps.push_back({stacked(names.gate_up), stacked(names.down)});
  layer.attention_norm.weight = vector(names.attention_norm);
  layer.mlp_norm.weight = vector(names.mlp_norm);
  layer.query_norm = vector(names.query_norm);
  layer.key_norm = vector(names.key_norm);
  return layer;
}

TorchHeadOutput::TorchHeadOutput(TorchHeadLoader& loader, const TorchShared& target,
                                 std::int64_t vocab, const std::string& own)
    : target_(target), vocab_(vocab), own_(own.empty() ? nullptr : loader.linear(own)) {
  if (!own_) return;
  const std::vector<std::int32_t> ids = draft_vocabulary(loader.file());
  if (!ids.empty()) target_ids_ = index_tensor(ids, loader.options().device());
}

Tensor TorchHeadOutput::logits(const Tensor& states, double scale) const {
  Tensor drafted =
      own_ ? own_->matrix.product(states, own_->bias, at::kFloat) : target_.head_logits(states);
  if (scale != 1) drafted = drafted * scale;
  if (!target_ids_.defined()) return drafted;
  Tensor all = at::full({drafted.size(0), vocab_}, -std::numeric_limits<float>::infinity(),
                        drafted.options());
  all.index_copy_(1, target_ids_, drafted);
  return all;
}

}  // namespace triescope

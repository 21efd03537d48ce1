#include "core/model/layer_subset.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace triescope {
namespace {

void check_parts(const std::vector<std::int32_t>& sublayers, int layers) {
  if (std::ranges::none_of(sublayers, is_attention))
    throw Error(ErrorCode::kInvalidArgument,
                "layers: expected the attention of at least one to stay, found none");
  for (std::size_t i = 0; i < sublayers.size(); ++i)
    if (sublayers[i] < 0 || sublayers[i] >= 2 * layers ||
        (i > 0 && sublayers[i] <= sublayers[i - 1]))
      throw Error(ErrorCode::kInvalidArgument,
                  "layers: expected parts of them in ascending numbers from 0 to " +
                      std::to_string(2 * layers - 1) + ", found " + std::to_string(sublayers[i]));
}

// So many parts as a number of layers, two parts each: "22", "22.5".
std::string layers_text(std::size_t sublayers) {
  return std::to_string(sublayers / 2) + (sublayers % 2 == 0 ? "" : ".5");
}

}  // namespace

LayerSubset::LayerSubset(Model& whole, std::vector<std::int32_t> sublayers, KvOf kv_of)
    : whole_(whole), sublayers_(std::move(sublayers)), kv_of_(kv_of), info_(whole.info()) {
  check_parts(sublayers_, info_.layers);
  info_.name = layers_text(sublayers_.size()) + " of " + std::to_string(info_.layers) +
               " layers of " + info_.name;
  info_.layers = static_cast<int>(layers_with_attention(sublayers_).size());
}

std::vector<std::int32_t> LayerSubset::left_out() const {
  return all_but(2 * whole_.info().layers, sublayers_);
}

std::vector<std::int32_t> LayerSubset::kv_layers() const {
  return kv_of_ == KvOf::kParts ? layers_with_attention(sublayers_)
                                : all_but(whole_.info().layers, {});
}

void LayerSubset::set_sublayers(std::vector<std::int32_t> sublayers) {
  check_parts(sublayers, whole_.info().layers);
  const auto found = layers_with_attention(sublayers).size();
  if (kv_of_ == KvOf::kParts && found != kv_layers().size())
    throw Error(ErrorCode::kInvalidArgument,
                "layers: expected attention in " + std::to_string(kv_layers().size()) +
                    ", as many as there is KV for, found " + std::to_string(found));
  sublayers_ = std::move(sublayers);
}

ForwardOutput LayerSubset::forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) {
  ForwardBatch part = batch;
  part.sublayers = sublayers_;
  return whole_.forward(part, kv, std::move(stop));
}

}  // namespace triescope

#include "core/model/expert_notes.h"

#include <algorithm>

#include "core/model/layer_route.h"

namespace triescope {

void ExpertNotes::begin(const formats::ModelConfig& config, const ForwardBatch& batch) {
  layers_.clear();
  if (!config.has_experts()) return;
  for (const RouteStep& step : layer_route(config, batch.sublayers, config.layers.size()))
    if (step.mlp && config.layers[step.layer].experts > 0)
      layers_.push_back(static_cast<std::int32_t>(step.layer));
  used_ = config.experts.used;
  rows_.assign(batch.logit_rows.begin(), batch.logit_rows.end());
  chosen_.assign(layers_.size() * rows_.size() * static_cast<std::size_t>(used_), {});
}

void ExpertNotes::add(std::int32_t layer, std::size_t first,
                      std::span<const kernels::ChosenExpert> chosen) {
  const auto used = static_cast<std::size_t>(used_);
  const auto at =
      static_cast<std::size_t>(std::ranges::find(layers_, layer) - layers_.begin()) * rows_.size();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows_[i]);
    if (row < first || row >= first + chosen.size() / used) continue;
    std::ranges::copy(chosen.subspan((row - first) * used, used),
                      chosen_.begin() + static_cast<std::ptrdiff_t>((at + i) * used));
  }
}

}  // namespace triescope

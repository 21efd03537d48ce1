#include "viz/query/left_out_layers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/capture/metric_names.h"

namespace triescope::viz {

std::vector<bool> left_out_layers(const capture::Capture& capture, capture::Tick cursor) {
  const auto is_told = [&](const capture::MetricRow& row) {
    return row.tick < cursor && row.name == capture::kLeftOutLayer;
  };
  if (std::ranges::none_of(capture.metrics(), is_told)) return {};
  const auto model = nlohmann::json::parse(capture.run().model_json, nullptr, false);
  if (!model.is_object() || !model.contains("layers") || !model["layers"].is_number_integer())
    return {};
  constexpr std::int64_t kMost = 4096;  // a file's number
  const auto layers = static_cast<std::size_t>(std::clamp<std::int64_t>(model["layers"], 0, kMost));
  std::vector<bool> left_out;
  capture::Tick newest = -1;
  for (const capture::MetricRow& row : capture.metrics()) {
    if (row.tick >= cursor) break;
    if (row.name != capture::kLeftOutLayer) continue;
    if (row.tick != newest) left_out.assign(layers, false);
    newest = row.tick;
    if (row.value >= 0 && row.value < static_cast<double>(layers))
      left_out[static_cast<std::size_t>(row.value)] = true;
  }
  return left_out;
}

std::string left_out_text(const std::vector<bool>& left_out) {
  std::string text;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (!left_out[i]) continue;
    std::size_t last = i;
    while (last + 1 < left_out.size() && left_out[last + 1]) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(i);
    if (last > i) text += (last > i + 1 ? "–" : ", ") + std::to_string(last);
    i = last;
  }
  const auto count = std::ranges::count(left_out, true);
  return (text.empty() ? "none" : text) + ": " + std::to_string(count) + " of " +
         std::to_string(left_out.size());
}

}  // namespace triescope::viz

#include "viz/query/left_out_layers.h"

#include <algorithm>
#include <string_view>

#include "core/capture/metric_names.h"
#include "core/capture/run_fields.h"

namespace triescope::viz {
namespace {

LeftOut of_name(std::string_view name) {
  return name == capture::kLeftOutLayer       ? LeftOut::kLayer
         : name == capture::kLeftOutAttention ? LeftOut::kAttention
                                              : LeftOut::kMlp;
}

// "3, 5–9": the layers of which `what` is left out.
std::string numbers(const std::vector<LeftOut>& left_out, LeftOut what) {
  std::string text;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i] != what) continue;
    std::size_t last = i;
    while (last + 1 < left_out.size() && left_out[last + 1] == what) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(i);
    if (last > i) text += (last > i + 1 ? "–" : ", ") + std::to_string(last);
    i = last;
  }
  return text;
}

}  // namespace

std::vector<LeftOut> left_out_layers(const capture::Capture& capture, capture::Tick cursor) {
  const auto is_told = [&](const capture::MetricRow& row) {
    return row.tick < cursor && capture::is_left_out(row.name);
  };
  if (std::ranges::none_of(capture.metrics(), is_told)) return {};
  const capture::RunFields model(capture.run().model_json);
  constexpr std::int64_t kMost = 4096;  // a file's number
  const auto layers =
      static_cast<std::size_t>(std::clamp<std::int64_t>(model.integer("layers", 0), 0, kMost));
  std::vector<LeftOut> left_out;
  capture::Tick newest = -1;
  for (const capture::MetricRow& row : capture.metrics()) {
    if (row.tick >= cursor) break;
    if (!capture::is_left_out(row.name)) continue;
    if (row.tick != newest) left_out.assign(layers, LeftOut::kNothing);
    newest = row.tick;
    if (!(row.value >= 0 && row.value < static_cast<double>(layers))) continue;
    LeftOut& layer = left_out[static_cast<std::size_t>(row.value)];
    const LeftOut found = of_name(row.name);
    layer = layer == LeftOut::kNothing || layer == found ? found : LeftOut::kLayer;
  }
  return left_out;
}

std::int64_t left_out_parts(const std::vector<LeftOut>& left_out) {
  std::int64_t parts = 0;
  for (const LeftOut what : left_out)
    parts += what == LeftOut::kLayer ? 2 : what == LeftOut::kNothing ? 0 : 1;
  return parts;
}

std::string left_out_text(const std::vector<LeftOut>& left_out) {
  const auto count = [&](LeftOut what) { return std::ranges::count(left_out, what); };
  const bool by_parts = count(LeftOut::kAttention) + count(LeftOut::kMlp) > 0;
  std::string text = numbers(left_out, LeftOut::kLayer);
  const auto add = [&](const char* of, LeftOut what) {
    if (count(what) > 0) text += (text.empty() ? "" : "; ") + (of + numbers(left_out, what));
  };
  add("attention of ", LeftOut::kAttention);
  add("MLP of ", LeftOut::kMlp);
  const auto number = left_out_parts(left_out), all = static_cast<std::int64_t>(left_out.size());
  return (text.empty() ? "none" : text) + ": " +
         (by_parts ? std::to_string(number) + " of " + std::to_string(2 * all) + " parts"
                   : std::to_string(number / 2) + " of " + std::to_string(all));
}

}  // namespace triescope::viz

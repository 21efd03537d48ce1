#include "core/files/draft_head/feature_layers.h"

#include "core/base/error.h"

namespace triescope::formats {
namespace {

// Whether the list is 0 ... most; most < 0: unknown.
bool all_up_to(std::span<const int> layers, int most) {
  for (const int layer : layers)
    if (layer < 0 || (most >= 0 && layer > most)) return false;
  return true;
}

void check_list(std::span<const int> layers, int count, int most, ErrorCode code,
                const std::string& who) {
  if (static_cast<int>(layers.size()) == count && all_up_to(layers, most)) return;
  throw Error(code,
              who + ": expected " + std::to_string(count) + " layers" +
                  (most >= 0 ? " from 0 to " + std::to_string(most) + " (the target's last)" : "") +
                  ", found " + layers_text(layers) +
                  "; set the layers that the head was trained with (--set layers=...)");
}

}  // namespace

std::string layers_text(std::span<const int> layers) {
  std::string text;
  for (const int layer : layers) text += (text.empty() ? "" : ", ") + std::to_string(layer);
  return text;
}

FeatureLayers feature_layers(std::span<const int> stored, std::span<const int> chosen, int count,
                             int target_layers, const std::string& who) {
  const int most = target_layers > 0 ? target_layers : -1;
  if (!chosen.empty()) {
    check_list(chosen, count, most, ErrorCode::kInvalidArgument, who + ": layers");
    return {{chosen.begin(), chosen.end()}, LayerConvention::kOverride};
  }
  if (stored.empty()) {
    if (most < 0) return {{}, LayerConvention::kAbsent};
    const std::vector<int> usual = {2, most / 2, most - 3};
    check_list(usual, count, most, ErrorCode::kCorruption,
               who + ": the file names no layers, and EAGLE's own do not fit");
    return {usual, LayerConvention::kAbsent};
  }
  // No output has the id L, so a list that contains it cannot count outputs.
  if (stored[0] == 1 && all_up_to(stored, most < 0 ? most : most - 1)) {
    check_list(stored, count, most, ErrorCode::kCorruption, who);
    FeatureLayers result{{}, LayerConvention::kOutput};
    for (const int layer : stored) result.entering.push_back(layer + 1);
    return result;
  }
  check_list(stored, count, most, ErrorCode::kCorruption, who);
  return {{stored.begin(), stored.end()}, LayerConvention::kEntering};
}

FeatureLayers output_layers(std::span<const int> stored, std::span<const int> chosen, int count,
                            int target_layers, const std::string& who) {
  if (!chosen.empty()) return feature_layers(stored, chosen, count, target_layers, who);
  check_list(stored, count, target_layers > 0 ? target_layers - 1 : -1, ErrorCode::kCorruption,
             who);
  FeatureLayers result{{}, LayerConvention::kOutput};
  for (const int layer : stored) result.entering.push_back(layer + 1);
  return result;
}

}  // namespace triescope::formats

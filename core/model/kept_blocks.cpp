#include "core/model/kept_blocks.h"

#include <map>
#include <optional>

#include "core/model/kernel_check.h"

namespace triescope {
namespace {

using formats::GgmlType;

// The types of blocks among a file's matrices, each with the columns of one of them. Positions are
// always widened.
std::map<GgmlType, std::int64_t> blocks_of(const formats::WeightSource& source) {
  std::map<GgmlType, std::int64_t> found;
  for (int r = 0; r < formats::kRoles; ++r) {
    const auto role = static_cast<formats::Role>(r);
    const std::optional<formats::WeightShape> shape = source.shape(role);
    if (!shape || role == formats::Role::kPositions) continue;
    const int layers =
        formats::is_of_layer(role) ? static_cast<int>(source.config().layers.size()) : 1;
    for (int layer = 0; layer < layers; ++layer) {
      const std::optional<GgmlType> type = source.stored_type(role, layer);
      if (type && formats::block_elements(*type) > 1) found.try_emplace(*type, shape->cols);
    }
  }
  return found;
}

}  // namespace

KeptBlocks choose_kept_blocks(const formats::WeightSource& source, const LoadOptions& options,
                              const at::TensorOptions& tensors, LayerSteps steps) {
  KeptBlocks kept;
  if (steps != LayerSteps::kKernels || !options.stored_weights) return kept;
  const std::map<GgmlType, std::int64_t> types = blocks_of(source);
  std::map<std::string, std::string> expanded;  // types by reason
  for (const auto& [type, inputs] : types) {
    const std::string why = check_block_kernels(type, inputs, tensors);
    if (why.empty()) {
      kept.types.insert(type);
    } else {
      std::string& names = expanded[why];
      names += (names.empty() ? "" : ", ") + formats::to_string(type);
    }
  }
  for (const auto& [why, names] : expanded)
    kept.warning += (kept.warning.empty() ? "" : "; ") + std::string("the file's ") +
                    (kept.types.empty() && expanded.size() == 1 ? "quantised" : names) +
                    " matrices are expanded to " + to_string(options.dtype) + " on loading: " + why;
  return kept;
}

}  // namespace triescope

#include "core/model/torch/kept_blocks.h"

#include <map>
#include <optional>

#include "core/base/bytes_text.h"
#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/model/torch/kernel_check.h"

namespace triescope {
namespace {

using formats::GgmlType;

// Calls f(shape, type) for each weight. `type` is the type of its blocks; none where it is dense or
// always widened (positions, types that no kernel computes from).
template <class F>
void each_weight(const formats::WeightSource& source, const F& f) {
  for (const formats::Part& part : formats::parts_of(source.config())) {
    std::optional<GgmlType> type = source.stored_type(part);
    if (type && (formats::block_elements(*type) == 1 || part.role == formats::Role::kPositions ||
                 !kernels::PackedLinear::holds(*type)))
      type.reset();
    f(source.shape(part).value(), type);
  }
}

// By type of blocks among a file's matrices: the columns of one of them.
std::map<GgmlType, std::int64_t> blocks_of(const formats::WeightSource& source) {
  std::map<GgmlType, std::int64_t> found;
  each_weight(source, [&](const formats::WeightShape& shape, std::optional<GgmlType> type) {
    if (type) found.try_emplace(*type, shape.cols);
  });
  return found;
}

}  // namespace

KeptBlocks choose_kept_blocks(const formats::WeightSource& source, const LoadOptions& options,
                              const at::TensorOptions& tensors, LayerSteps steps) {
  KeptBlocks kept;
  if (steps != LayerSteps::kKernels || !options.stored_weights) return kept;
  const std::map<GgmlType, std::int64_t> types = blocks_of(source);
  std::map<std::string, std::string> expanded;  // by reason: the types
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

void check_room_for_expanded(const formats::WeightSource& source, const KeptBlocks& blocks,
                             DType dtype, std::int64_t free_bytes) {
  if (blocks.warning.empty() || free_bytes < 0) return;
  std::int64_t bytes = 0;
  each_weight(source, [&](const formats::WeightShape& shape, std::optional<GgmlType> type) {
    const std::int64_t values = shape.rows * shape.cols;
    bytes += type && blocks.types.contains(*type)
                 ? values / formats::block_elements(*type) * formats::block_bytes(*type)
                 : values * (dtype == DType::kF32 ? 4 : 2);
  });
  if (bytes <= free_bytes) return;
  throw Error(ErrorCode::kOutOfMemory,
              blocks.warning + ". So the weights take " + bytes_text(static_cast<double>(bytes)) +
                  ", and " + bytes_text(static_cast<double>(free_bytes)) +
                  " are free; take a smaller model" +
                  (dtype == DType::kF32 ? ", --dtype bf16" : "") + " or --device cpu");
}

}  // namespace triescope

// How many of a model's weights one row uses: in a mixture of experts, those of the experts that it
// goes through alone.
#pragma once

#include <cstdint>

#include "core/base/row_costs.h"
#include "core/files/config.h"
#include "core/files/weights.h"
#include "core/model/model.h"

namespace triescope {

struct ActiveWeights {
  std::int64_t used = 0;    // of all weights, the embedding included
  std::int64_t routed = 0;  // of these, in experts that the row chose
  std::int64_t read = 0;    // that a forward of one row reads: of an embedding of its own, nothing
};
ActiveWeights active_weights(const formats::ModelConfig& config);

// The same in bytes: of a matrix whose type the device's kernels compute from as in the file, of others as widened
// to `dtype`.
struct ActiveBytes {
  std::int64_t read = 0;    // by a forward of one row
  std::int64_t expert = 0;  // of one expert in one layer, the average
};
ActiveBytes active_bytes(const formats::WeightSource& source, DType dtype, bool on_gpu);

// The same costs for a model of this configuration: a further row also pays for the experts that no
// row before it chose. Counted in weights, as if all had as many bits.
RowCosts with_experts(RowCosts costs, const formats::ModelConfig& config);

}  // namespace triescope

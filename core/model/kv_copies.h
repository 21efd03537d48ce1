// KvCopies: a KV storage that can take over what another one of the same model holds. The layers that a part
// of the model keeps (LayerSubset) need not compute what the whole model has computed for the same text.
// A storage that can is a KvStorage too; ask with dynamic_cast.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/model.h"

namespace triescope {

class KvCopies {
 public:
  virtual ~KvCopies() = default;
  // Copies slot from[i] of `other` to slot to[i], bit for bit. Layer j of this storage takes layer layers[j]
  // of the other; where layers have K and V of several widths (layer_route.h), both have all layers, and all are
  // copied. Returns false, with nothing copied, where the other's layout or dtype differs; without
  // slots it asks just that. Error{kInvalidArgument}: slots or layers that do not exist, lists of
  // different lengths.
  virtual bool copy_from(const KvStorage& other, std::span<const std::int32_t> from,
                         std::span<const std::int32_t> to,
                         std::span<const std::int32_t> layers) = 0;
};

}  // namespace triescope

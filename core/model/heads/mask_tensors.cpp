#include "core/model/heads/mask_tensors.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace triescope {
namespace {

// [layers, kv_heads, prefix, head_dim] as stored -> [layers, prefix, kv_heads, head_dim].
std::vector<float> by_position(const formats::HeadTensor& tensor) {
  const std::vector<float> stored = tensor.floats();
  std::vector<std::size_t> size;
  for (const std::int64_t extent : tensor.shape) size.push_back(static_cast<std::size_t>(extent));
  const std::size_t heads = size[1], prefix = size[2], dim = size[3];
  std::vector<float> turned(stored.size());
  for (std::size_t layer = 0; layer < size[0]; ++layer)
    for (std::size_t head = 0; head < heads; ++head)
      for (std::size_t p = 0; p < prefix; ++p)
        std::copy_n(stored.begin() +
                        static_cast<std::ptrdiff_t>(((layer * heads + head) * prefix + p) * dim),
                    dim,
                    turned.begin() +
                        static_cast<std::ptrdiff_t>(((layer * prefix + p) * heads + head) * dim));
  return turned;
}

}  // namespace

MaskInputs read_mask_inputs(const formats::HeadFile& file) {
  const formats::HeadConfig& config = file.config();
  MaskInputs masks;
  masks.count = config.mask_count;
  masks.prefix = config.mask_prefix;
  if (config.mask_rows.empty()) {
    masks.embeddings = file.tensor("mask_embeddings").floats();
  } else {
    const std::vector<float> all = file.tensor("embed_tokens.weight").floats();
    const auto hidden = static_cast<std::size_t>(config.hidden);
    for (const std::int64_t row : config.mask_rows) {
      const auto values = std::span(all).subspan(static_cast<std::size_t>(row) * hidden, hidden);
      masks.embeddings.insert(masks.embeddings.end(), values.begin(), values.end());
    }
  }
  if (masks.prefix > 0) {
    masks.prefix_keys = by_position(file.tensor("prefix_keys"));
    masks.prefix_values = by_position(file.tensor("prefix_values"));
  }
  return masks;
}

}  // namespace triescope

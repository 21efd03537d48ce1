// The two parts of a layer, either of which a forward may leave out (ForwardBatch::sublayers): number 2i is the
// attention of layer i or the convolution in its place, 2i + 1 its MLP, dense or a mixture. The residual stream goes past
// a part that is left out as it is. Only the first of the two has something in a KV slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace triescope {

constexpr std::int32_t attention_of(std::int32_t layer) { return 2 * layer; }
constexpr std::int32_t mlp_of(std::int32_t layer) { return 2 * layer + 1; }
constexpr std::int32_t layer_of(std::int32_t sublayer) { return sublayer / 2; }
constexpr bool is_attention(std::int32_t sublayer) { return sublayer % 2 == 0; }

// Both parts of each of these layers, ascending where they are.
std::vector<std::int32_t> sublayers_of(std::span<const std::int32_t> layers);
// The layers of which the attention is among `sublayers`, in their order.
std::vector<std::int32_t> layers_with_attention(std::span<const std::int32_t> sublayers);
// The numbers from 0 to count - 1 that `some`, ascending, does not have.
std::vector<std::int32_t> all_but(int count, std::span<const std::int32_t> some);

}  // namespace triescope

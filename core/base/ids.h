// Strong ids: plain 32-bit integers that cannot be mixed up. -1 means "none".
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace triescope {

template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;
  constexpr explicit Id(std::int64_t v) : value(static_cast<std::int32_t>(v)) {}
  constexpr bool valid() const { return value >= 0; }
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;    // a node of the token tree; 0 is the root (the prompt)
using SlotId = Id<struct SlotTag>;    // one position of KV storage, in every layer at once
using TokenId = Id<struct TokenTag>;  // an entry of the model's vocabulary

}  // namespace triescope

template <class Tag>
struct std::hash<triescope::Id<Tag>> {
  std::size_t operator()(triescope::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>{}(id.value);
  }
};

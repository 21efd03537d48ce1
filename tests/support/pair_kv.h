// The KV of a draft head for tests: a slot holds the token, the hidden state and the position that were written to it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/model/kv_slots.h"
#include "core/model/model.h"

namespace triescope::test {

struct Pair {
  std::int32_t token = -1;
  std::vector<float> state;
  std::int32_t position = -1;  // the row's own; -1 = never written
  bool operator==(const Pair&) const = default;
};
using Pairs = std::vector<Pair>;
using Tokens = std::vector<std::int32_t>;

// A head's KV: what was written to each slot.
class PairKv final : public KvStorage {
 public:
  explicit PairKv(int capacity) : cells(static_cast<std::size_t>(capacity)) {}
  int capacity() const override { return static_cast<int>(cells.size()); }
  std::int64_t bytes_per_slot() const override { return 16; }
  void reserve(int capacity) override {
    grow(this->capacity(), capacity,
         [this](int wanted) { cells.resize(static_cast<std::size_t>(wanted)); });
  }
  void move(std::span<const std::int32_t>, std::span<const std::int32_t>) override {
    throw Error(ErrorCode::kInvalidArgument, "fake head: nothing of a head's is moved");
  }
  Pairs cells;
};

}  // namespace triescope::test

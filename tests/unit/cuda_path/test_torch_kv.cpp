// KV storage of the libtorch executor where memory is short.
#include <ATen/ATen.h>  // before doctest: its logging has a CHECK of its own, which ours must replace
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "core/base/error.h"
#include "core/model/torch_kv.h"
#include "tests/support/refusal.h"

namespace triescope::test {
namespace {

// In place of libtorch's on the CPU: refuses what goes beyond a limit, and keeps the most that was in
// use at once.
class LittleAllocator final : public c10::Allocator {
 public:
  LittleAllocator() : before_(c10::GetCPUAllocator()) {
    current_ = this;
    c10::SetCPUAllocator(this, 100);
  }
  ~LittleAllocator() override { c10::SetCPUAllocator(before_, 100); }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (in_use_ + bytes > limit)
      TORCH_CHECK_WITH(OutOfMemoryError, false, "refused ", bytes, " bytes");
    void* p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    size_of_[p] = bytes;
    in_use_ += bytes;
    most = std::max(most, in_use_);
    return {p, p, &free_block, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  std::size_t limit = SIZE_MAX, most = 0;

 private:
  static void free_block(void* p) {
    current_->in_use_ -= current_->size_of_[p];
    std::free(p);
  }

  static inline LittleAllocator* current_ = nullptr;
  c10::Allocator* before_;
  std::map<void*, std::size_t> size_of_;
  std::size_t in_use_ = 0;
};

constexpr std::size_t kTensorSlot = 2 * 8 * sizeof(float);  // bytes of a slot in one tensor
constexpr std::size_t kSlot = 8 * kTensorSlot;              // K and V of four layers

formats::ModelConfig four_layers() {
  formats::ModelConfig config;
  config.layers.resize(4);
  config.kv_heads = 2;
  config.head_dim = 8;
  return config;
}

struct Filled {
  Filled() {
    for (std::size_t i = 0; i < 4; ++i) {
      kv.k(i).fill_(static_cast<double>(i));
      kv.v(i).fill_(10.0 + static_cast<double>(i));
    }
  }
  bool holds_what_it_did() {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto is = [&](at::Tensor& tensor, std::size_t value) {
        return at::all(at::eq(tensor.narrow(0, 0, 100), static_cast<double>(value))).item<bool>();
      };
      if (!is(kv.k(i), i) || !is(kv.v(i), 10 + i)) return false;
    }
    return true;
  }
  const c10::InferenceMode inference;
  TorchKv kv{four_layers(), at::TensorOptions(at::kFloat), 100};
};

TEST_CASE("torch KV: growing needs the new storage and one old tensor, not both storages") {
  LittleAllocator memory;
  Filled of;
  CHECK(of.kv.bytes_per_slot() == kSlot);
  memory.most = 0;
  of.kv.reserve(101);
  CHECK(of.kv.capacity() == 150);
  CHECK(memory.most >= 150 * kSlot);
  CHECK(memory.most <= 150 * kSlot + 100 * kTensorSlot);
  CHECK(of.holds_what_it_did());
  CHECK(at::all(at::eq(of.kv.k(3).narrow(0, 100, 50), 0)).item<bool>());
}

TEST_CASE("torch KV: where there is no room to grow into, it grows to what is asked for") {
  LittleAllocator memory;
  Filled of;
  memory.limit = 101 * kSlot + 150 * kTensorSlot;
  of.kv.reserve(101);
  CHECK(of.kv.capacity() == 101);
  CHECK(of.holds_what_it_did());
  for (std::size_t i = 0; i < 4; ++i) CHECK(of.kv.v(i).size(0) == 101);
}

TEST_CASE("torch KV: where not even that fits, an error says what to do and all stays usable") {
  LittleAllocator memory;
  Filled of;
  memory.limit = 62'500;  // the last tensor is the one that does not fit
  CHECK(refusal(ErrorCode::kOutOfMemory, [&] { of.kv.reserve(110); }) ==
        "KV of 110 slots needs 56320 bytes on cpu, which were refused (refused 7040 bytes); take "
        "fewer beams, a shorter prompt or fewer new tokens, or close what else uses the device");
  CHECK(of.kv.capacity() == 100);
  CHECK(of.holds_what_it_did());
  const std::vector<std::int32_t> from = {99}, to = {0};
  of.kv.move(from, to);
  memory.limit = SIZE_MAX;
  of.kv.reserve(110);
  CHECK(of.kv.capacity() == 150);
  CHECK(of.holds_what_it_did());
}

}  // namespace
}  // namespace triescope::test

// KV storage of the libtorch executor where memory is short.
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/kernels/aten.h"
#include "core/model/torch/torch_kv.h"
#include "tests/support/refusal.h"
#include "tests/unit/cuda_path/little_allocator.h"

namespace triescope::test::test_torch_kv {
namespace {

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
        "KV of 110 slots needs 56.3 KB on cpu, which were refused (refused 7040 bytes); take "
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

TEST_CASE("torch KV: a move that is refused memory on its way goes on where it stopped") {
  LittleAllocator memory;
  const std::vector<std::int32_t> from = {5, 6, 7}, to = {6, 7, 5};
  const auto numbered = [](Filled& of) {
    for (std::size_t i = 0; i < 4; ++i)
      for (at::Tensor* const tensor : {&of.kv.k(i), &of.kv.v(i)})
        tensor->copy_(at::arange(100).view({100, 1, 1}).expand({100, 2, 8}));
  };
  int refused = 0;
  for (int allowed = 0; allowed < 10; ++allowed) {
    Filled of;
    numbered(of);
    memory.allowed = allowed;
    while (true) {
      try {
        of.kv.move(from, to);
        break;
      } catch (const Error& error) {
        REQUIRE(error.code() == ErrorCode::kOutOfMemory);
        ++refused;
        memory.allowed = 3 + refused % 6;  // now and then enough for a tensor
        REQUIRE(refused < 1000);
      }
    }
    memory.allowed = INT_MAX;
    for (std::size_t i = 0; i < 4; ++i)
      for (at::Tensor* const tensor : {&of.kv.k(i), &of.kv.v(i)}) {
        CHECK(tensor->select(0, 6).eq(5).all().item<bool>());
        CHECK(tensor->select(0, 7).eq(6).all().item<bool>());
        CHECK(tensor->select(0, 5).eq(7).all().item<bool>());
        CHECK(tensor->select(0, 8).eq(8).all().item<bool>());
      }
  }
  CHECK(refused > 50);
}

}  // namespace
}  // namespace triescope::test::test_torch_kv

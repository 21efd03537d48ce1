// KV storage of the CPU executor where memory is short.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/model/cpu_kv.h"
#include "tests/support/little_memory.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"

namespace triescope::test {
namespace {

constexpr int kSlots = 1000, kDims = 2048;
constexpr std::size_t kBuffer = std::size_t{kDims} * sizeof(float);  // of a slot in one buffer
constexpr std::size_t kSlot = 8 * kBuffer;                           // K and V of four layers
constexpr std::size_t kLeft = 32 << 20;  // what growing leaves to others

struct Filled {
  Filled() {
    each([](float* numbers, float value) { std::fill_n(numbers, kSlots * kDims, value); });
  }
  template <class Body>
  void each(Body body) {
    for (std::size_t layer = 0; layer < 4; ++layer) {
      body(static_cast<float*>(kv.keys(layer)), static_cast<float>(layer));
      body(static_cast<float*>(kv.values(layer)), static_cast<float>(10 + layer));
    }
  }
  bool holds_what_it_did() {
    bool all = true;
    each([&](float* numbers, float value) {
      all = all && std::all_of(numbers, numbers + kSlots * kDims,
                               [&](float number) { return number == value; });
    });
    return all;
  }
  static formats::ModelConfig config() {
    formats::ModelConfig config;
    config.layers.resize(4);
    config.kv_heads = 16;
    config.head_dim = kDims / 16;
    return config;
  }
  CpuKv kv{config(), kernels::Precision::kF32, kSlots};
};

TEST_CASE("cpu KV: growing needs the new storage and one old buffer, not both storages") {
  if (kSanitized) TRIESCOPE_SKIP("sanitizers reserve their own address space");
  Filled of;
  CHECK(of.kv.bytes_per_slot() == kSlot);
  {
    // Half as many again, one old buffer beside the new one, and room for alignment.
    const LittleMemory little(500 * kSlot + kSlots * kBuffer + 8 * (4 << 20) + kLeft);
    of.kv.reserve(1001);
  }
  CHECK(of.kv.capacity() == 1500);
  CHECK(of.holds_what_it_did());
}

TEST_CASE("cpu KV: where there is no room to grow into, it grows to what is asked for") {
  if (kSanitized) TRIESCOPE_SKIP("sanitizers reserve their own address space");
  Filled of;
  {
    const LittleMemory little(kSlots * kBuffer + 4 * (4 << 20) + kLeft);
    of.kv.reserve(1001);
    CHECK(of.kv.capacity() == 1001);
    CHECK(of.holds_what_it_did());
    const std::string why = refusal(ErrorCode::kOutOfMemory, [&] { of.kv.reserve(100'000); });
    CHECK(why ==
          "out of memory: KV of 100000 slots needs 6.55 GB, which were refused; take fewer beams, "
          "a shorter prompt or dtype bf16");
    CHECK(of.kv.capacity() == 1001);
    CHECK(of.holds_what_it_did());
  }
  of.kv.reserve(1200);
  CHECK(of.kv.capacity() == 1501);
  CHECK(of.holds_what_it_did());
}

TEST_CASE("cpu KV: growing leaves memory to those who are to say that there is none") {
  if (kSanitized) TRIESCOPE_SKIP("sanitizers reserve their own address space");
  Filled of;
  {
    const LittleMemory little(kSlots * kBuffer + kSlot + kLeft / 2);
    CHECK(refusal(ErrorCode::kOutOfMemory, [&] {
            of.kv.reserve(1001);
          }).starts_with("out of memory: KV of 1001 slots needs "));
    CHECK(of.kv.capacity() == kSlots);
    CHECK(of.holds_what_it_did());
  }
  of.kv.reserve(1001);
  CHECK(of.kv.capacity() == 1500);
}

}  // namespace
}  // namespace triescope::test

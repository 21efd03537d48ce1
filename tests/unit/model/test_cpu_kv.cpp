// KV storage of the CPU executor: what it holds while it grows, also where memory is short.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/cpu/cpu_kv.h"
#include "tests/support/little_memory.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

namespace triescope::test {
namespace {

constexpr int kSlots = 1000, kDims = 2048;
constexpr std::size_t kBuffer = std::size_t{kDims} * sizeof(float);  // of a slot in one buffer
constexpr std::size_t kSlot = 8 * kBuffer;                           // K and V of four layers
constexpr std::size_t kLeft = 32 << 20;  // what growing leaves to others

struct Filled {
  explicit Filled(std::size_t layers = 4, int dims = kDims, int slots = kSlots)
      : layers(layers), numbers(dims * slots), kv(config(layers, dims), precision, slots) {
    each([this](float* of, float value) { std::fill_n(of, numbers, value); });
  }
  template <class Body>
  void each(Body body) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      body(static_cast<float*>(kv.keys(layer)), static_cast<float>(layer + 1));
      body(static_cast<float*>(kv.values(layer)), static_cast<float>(100 + layer));
    }
  }
  bool holds_what_it_did() {
    bool all = true;
    each([&](float* of, float value) {
      all = all && std::all_of(of, of + numbers, [&](float number) { return number == value; });
    });
    return all;
  }
  static formats::ModelConfig config(std::size_t layers, int dims) {
    formats::ModelConfig config;
    config.layers.resize(layers);
    config.kv_heads = 16;
    config.head_dim = dims / 16;
    return config;
  }
  static constexpr kernels::Precision precision = kernels::Precision::kF32;
  std::size_t layers;
  int numbers;  // of K or V of a layer
  CpuKv kv;
};

TEST_CASE("cpu KV: K and V of all layers keep apart, and what they hold, wherever they lie") {
  // In a buffer each, before or after growing; in two buffers, the second shorter; of rows that are
  // no whole lines of the cache.
  for (const auto& [layers, dims, slots, grown] :
       {std::array{3, 16, 5, 9}, std::array{6, 1024, 300, 310}, std::array{6, 1024, 300, 900},
        std::array{2, 2048, 700, 4000}, std::array{7, 48, 33, 30'000}}) {
    CAPTURE(dims);
    CAPTURE(grown);
    Filled of(static_cast<std::size_t>(layers), dims, slots);
    CHECK(of.holds_what_it_did());
    of.kv.reserve(grown);
    CHECK(of.kv.capacity() >= grown);
    CHECK(of.holds_what_it_did());
    // The new slots are there, behind the others, and no one else's.
    const int more = of.kv.capacity() * dims - of.numbers;
    of.each([&](float* first, float value) { std::fill_n(first + of.numbers, more, -value); });
    CHECK(of.holds_what_it_did());
    const std::int32_t from[] = {0, 1}, to[] = {1, grown - 1};
    of.kv.move(from, to);
    CHECK(of.holds_what_it_did());
    of.each([&](float* first, float value) {
      CHECK(first[static_cast<std::ptrdiff_t>(grown - 1) * dims] == value);
      CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    });
  }
}

TEST_CASE("cpu KV: K and V share a buffer across the convolutions between their layers") {
  constexpr int kRows = 512;
  constexpr std::size_t kPart = std::size_t{1024} * sizeof(float) * kRows;  // too short for itself
  static_assert(kPart < kernels::Buffer::kHugePages);
  formats::ModelConfig config = Filled::config(6, 1024);
  config.hidden = 512;
  for (const std::size_t i : {0u, 1u, 3u, 4u}) config.layers[i].taps = 3;
  CpuKv kv(config, Filled::precision, kRows);
  const auto at = [](void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  CHECK(at(kv.values(2)) - at(kv.keys(2)) == kPart);
  CHECK(at(kv.keys(5)) - at(kv.values(2)) == kPart);
  CHECK(at(kv.keys(3)) - at(kv.keys(1)) == kPart / 2);
  const auto last = [&](std::size_t layer, std::size_t width) {
    return static_cast<float*>(kv.keys(layer)) + width * kRows - 1;
  };
  for (std::size_t i = 0; i < 6; ++i)
    *last(i, config.layers[i].taps > 0 ? 512 : 1024) = static_cast<float>(i + 1);
  kv.reserve(kRows + 1);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(*last(i, config.layers[i].taps > 0 ? 512 : 1024) == static_cast<float>(i + 1));
}

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

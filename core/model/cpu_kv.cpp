#include "core/model/cpu_kv.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "core/base/bytes_text.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/model/kv_slots.h"

namespace triescope {

CpuKv::CpuKv(const formats::ModelConfig& config, kernels::Precision precision, int capacity)
    : dims_(config.kv_dims()), precision_(precision), layers_(config.layers.size()) {
  allocate(std::max(capacity, 1));
}

std::int64_t CpuKv::bytes_per_slot() const {
  return static_cast<std::int64_t>(layers_.size() * 2 * row_bytes());
}

void CpuKv::reserve(int capacity) {
  grow(capacity_, capacity, [this](int wanted) { allocate(wanted); });
}

// What growing leaves of the machine's memory: who is to wait for some, and say so, needs a little.
constexpr std::int64_t kLeftToOthers = 32 << 20;

// Buffer by buffer, each old one freed before the next is made: what is needed beyond the new storage
// is one old buffer. Where one is refused, those before it are merely longer than capacity_.
void CpuKv::allocate(int capacity) {
  const std::size_t bytes = static_cast<std::size_t>(capacity) * row_bytes();
  const std::size_t kept = static_cast<std::size_t>(capacity_) * row_bytes();
  const auto lengthen = [&](kernels::Buffer& buffer) {
    if (buffer.bytes() == bytes) return;
    kernels::Buffer longer(bytes);
    if (kept > 0) std::memcpy(longer.data(), buffer.data(), kept);
    buffer = std::move(longer);
  };
  try {
    // Asked beforehand: the system grants what it does not have, and ends the process later.
    const std::int64_t more =
        (capacity - capacity_) * bytes_per_slot() + static_cast<std::int64_t>(kept) + kLeftToOthers;
    const std::int64_t free = capacity_ > 0 ? free_host_memory("/", FreeMemory::kAtMost) : -1;
    if (free >= 0 && free < more) throw std::bad_alloc();
    for (Layer& layer : layers_) {
      lengthen(layer.keys);
      lengthen(layer.values);
    }
  } catch (const std::exception&) {
    throw Error(ErrorCode::kOutOfMemory,
                "out of memory: KV of " + std::to_string(capacity) + " slots needs " +
                    bytes_text(static_cast<double>(bytes_per_slot() * capacity)) +
                    ", which were refused; take fewer beams, a shorter prompt or dtype bf16");
  }
  capacity_ = capacity;
}

void CpuKv::move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) {
  check_move(from, to, capacity_);
  // Gathered, then scattered: a target may also be a source.
  const std::size_t bytes = row_bytes();
  moved_.resize(from.size() * bytes);
  for (Layer& layer : layers_) {
    for (kernels::Buffer* buffer : {&layer.keys, &layer.values}) {
      auto* data = buffer->as<unsigned char>();
      for (std::size_t i = 0; i < from.size(); ++i) {
        std::memcpy(moved_.data() + i * bytes, data + static_cast<std::size_t>(from[i]) * bytes,
                    bytes);
      }
      for (std::size_t i = 0; i < to.size(); ++i) {
        std::memcpy(data + static_cast<std::size_t>(to[i]) * bytes, moved_.data() + i * bytes,
                    bytes);
      }
    }
  }
}

bool CpuKv::fits(const formats::ModelConfig& config, kernels::Precision precision) const {
  return dims_ == config.kv_dims() && layers_.size() == config.layers.size() &&
         precision_ == precision;
}

kernels::KvView CpuKv::view(std::size_t layer) const {
  return {layers_[layer].keys.data(), layers_[layer].values.data(), precision_};
}

}  // namespace triescope

#include "core/model/cpu/cpu_kv.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "core/base/bytes_text.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/model/kv_slots.h"

namespace triescope {

namespace {

// Growing leaves this much of the machine's memory: a program that has to wait for memory, and say
// so, needs a little.
constexpr std::int64_t kLeftToOthers = 32 << 20;

// How many parts of `bytes` each share a buffer: as many as together have huge pages and leave
// little unused behind the last of them. Short parts (below 1 MiB: SmolLM2-135M, 1365 slots) gain
// nothing from huge pages, and a virtual machine whose host takes free ones back pays for each when
// it is first touched (97 MB: 200 instead of 50 ms; 11 ms where the host leaves them).
std::size_t parts_of_buffer(std::size_t bytes) {
  constexpr std::size_t kHuge = kernels::Buffer::kHugePages, kWorthIt = 1 << 20;
  return bytes >= kHuge || bytes < kWorthIt ? 1 : (2 * kHuge + bytes - 1) / bytes;
}

}  // namespace

CpuKv::CpuKv(const formats::ModelConfig& config, kernels::Precision precision, int capacity,
             std::size_t layers)
    : dims_(config.kv_dims()), precision_(precision), parts_(2 * layers) {
  allocate(std::max(capacity, 1));
}

std::int64_t CpuKv::bytes_per_slot() const {
  return static_cast<std::int64_t>(parts_.size() * row_bytes());
}

void CpuKv::reserve(int capacity) {
  grow(capacity_, capacity, [this](int wanted) { allocate(wanted); });
}

// Grows buffer by buffer and frees each old one when its last part is copied: beyond the new
// storage this needs one old buffer, or as many as one new buffer replaces. If a buffer is refused,
// the parts before it are merely longer than capacity_.
void CpuKv::allocate(int capacity) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t bytes =
      (static_cast<std::size_t>(capacity) * row_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t kept = static_cast<std::size_t>(capacity_) * row_bytes();
  const std::size_t together = parts_of_buffer(bytes);
  const auto beside = static_cast<std::int64_t>(
      capacity_ > 0 ? std::max(parts_[0].buffer->bytes(), together * kept) : 0);
  const auto lengthen = [&](std::span<Part> parts) {
    if (parts[0].capacity == capacity) return;
    const auto buffer = std::make_shared<kernels::Buffer>(parts.size() * bytes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::byte* const data = buffer->as<std::byte>() + i * bytes;
      if (kept > 0) std::memcpy(data, parts[i].data, kept);
      parts[i] = {buffer, data, capacity};
    }
  };
  try {
    // Asked beforehand: the system grants memory that it does not have, and ends the process later.
    const std::int64_t more = (capacity - capacity_) * bytes_per_slot() + beside + kLeftToOthers;
    const std::int64_t free = capacity_ > 0 ? free_host_memory("/", FreeMemory::kAtMost) : -1;
    if (free >= 0 && free < more) throw std::bad_alloc();
    const std::span<Part> all = parts_;
    for (std::size_t begin = 0; begin < all.size(); begin += together)
      lengthen(all.subspan(begin, std::min(together, all.size() - begin)));
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
  // Gathers, then scatters: a target may also be a source.
  const std::size_t bytes = row_bytes();
  moved_.resize(from.size() * bytes);
  for (const Part& part : parts_) {
    for (std::size_t i = 0; i < from.size(); ++i)
      std::memcpy(moved_.data() + i * bytes, part.data + static_cast<std::size_t>(from[i]) * bytes,
                  bytes);
    for (std::size_t i = 0; i < to.size(); ++i)
      std::memcpy(part.data + static_cast<std::size_t>(to[i]) * bytes, moved_.data() + i * bytes,
                  bytes);
  }
}

void CpuKv::write(std::span<const std::int32_t> slots, std::span<const float> keys,
                  std::span<const float> values) {
  const std::size_t layers = parts_.size() / 2, width = static_cast<std::size_t>(dims_);
  check_write(slots, keys, values, layers * width, capacity_);
  const auto count = static_cast<std::int64_t>(slots.size());
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t at = layer * slots.size() * width;
    kernels::store_kv(keys.data() + at, dims_, count, dims_, slots.data(), precision_,
                      this->keys(layer));
    kernels::store_kv(values.data() + at, dims_, count, dims_, slots.data(), precision_,
                      this->values(layer));
  }
}

bool CpuKv::copy_from(const KvStorage& other, std::span<const std::int32_t> from,
                      std::span<const std::int32_t> to, std::span<const std::int32_t> layers) {
  const auto* const source = dynamic_cast<const CpuKv*>(&other);
  if (source == nullptr || source->dims_ != dims_ || source->precision_ != precision_) return false;
  check_copy(from, source->capacity_, to, capacity_);
  if (2 * layers.size() != parts_.size())
    throw Error(ErrorCode::kInvalidArgument,
                "kv: expected a layer of the other storage for each of this one's " +
                    std::to_string(parts_.size() / 2) + ", found " + std::to_string(layers.size()));
  const auto stored = static_cast<std::int32_t>(source->parts_.size() / 2);
  for (const std::int32_t layer : layers)
    if (layer < 0 || layer >= stored)
      throw Error(ErrorCode::kInvalidArgument,
                  "kv: expected layers of the other storage from 0 to " +
                      std::to_string(stored - 1) + ", found " + std::to_string(layer));
  const std::size_t bytes = row_bytes();
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Part& read = source->parts_[2 * static_cast<std::size_t>(layers[part / 2]) + part % 2];
    for (std::size_t i = 0; i < from.size(); ++i)
      std::memcpy(parts_[part].data + static_cast<std::size_t>(to[i]) * bytes,
                  read.data + static_cast<std::size_t>(from[i]) * bytes, bytes);
  }
  return true;
}

bool CpuKv::fits(const formats::ModelConfig& config, kernels::Precision precision,
                 std::size_t layers) const {
  return dims_ == config.kv_dims() && parts_.size() == 2 * layers && precision_ == precision;
}

kernels::KvView CpuKv::view(std::size_t layer) const {
  return {parts_[2 * layer].data, parts_[2 * layer + 1].data, precision_};
}

}  // namespace triescope

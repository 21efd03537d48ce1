#include "core/model/cpu/cpu_kv.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes_text.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/model/kv_slots.h"
#include "core/model/layer_route.h"

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
    : precision_(precision), even_(config.has_even_kv()) {
  for (const formats::KvShape& shape : stored_shapes(config, layers)) {
    parts_.emplace_back().dims = shape.key_values();
    parts_.emplace_back().dims = shape.value_values();
  }
  allocate(std::max(capacity, 1));
}

std::int64_t CpuKv::bytes_per_slot() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += row_bytes(part);
  return static_cast<std::int64_t>(bytes);
}

void CpuKv::reserve(int capacity) {
  grow(capacity_, capacity, [this](int wanted) { allocate(wanted); });
}

// Grows buffer by buffer and frees each old one when its last part is copied: beyond the new
// storage this needs one old buffer, or as many as one new buffer replaces. If a buffer is refused,
// the parts before it are merely longer than capacity_.
void CpuKv::allocate(int capacity) {
  constexpr std::size_t kAlignment = 64;
  const auto bytes_of = [&](const Part& part, int slots) {
    return static_cast<std::size_t>(slots) * row_bytes(part);
  };
  const auto aligned = [&](const Part& part) {
    return (bytes_of(part, capacity) + kAlignment - 1) / kAlignment * kAlignment;
  };
  // A buffer is for parts of one width, wherever their layers are. Those of no values need none.
  std::map<int, std::vector<Part*>> by_width;
  for (Part& part : parts_)
    if (part.dims > 0) by_width[part.dims].push_back(&part);
  const auto together = [&](std::span<Part* const> parts) {
    return std::min(parts_of_buffer(aligned(*parts[0])), parts.size());
  };
  const auto lengthen = [&](std::span<Part* const> parts) {
    if (parts[0]->capacity == capacity) return;
    const std::size_t bytes = aligned(*parts[0]), kept = bytes_of(*parts[0], capacity_);
    const auto buffer = std::make_shared<kernels::Buffer>(parts.size() * bytes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::byte* const data = buffer->as<std::byte>() + i * bytes;
      if (kept > 0) std::memcpy(data, parts[i]->data, kept);
      parts[i]->buffer = buffer;
      parts[i]->data = data;
      parts[i]->capacity = capacity;
    }
  };
  try {
    // Asked beforehand: the system grants memory that it does not have, and ends the process later.
    std::size_t beside = 0;
    for (const auto& [width, parts] : by_width)
      for (const Part* part : parts)
        if (capacity_ > 0)
          beside = std::max(
              {beside, part->buffer->bytes(), together(parts) * bytes_of(*part, capacity_)});
    const std::int64_t more = (capacity - capacity_) * bytes_per_slot() +
                              static_cast<std::int64_t>(beside) + kLeftToOthers;
    const std::int64_t free = capacity_ > 0 ? free_host_memory("/", FreeMemory::kAtMost) : -1;
    if (free >= 0 && free < more) throw std::bad_alloc();
    for (const auto& [width, parts] : by_width)
      for (std::span<Part* const> rest = parts; !rest.empty(); rest = rest.subspan(together(rest)))
        lengthen(rest.first(together(rest)));
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
  for (const Part& part : parts_) {
    const std::size_t bytes = row_bytes(part);
    if (moved_.size() < from.size() * bytes) moved_.resize(from.size() * bytes);
    for (std::size_t i = 0; i < from.size() && bytes > 0; ++i)
      std::memcpy(moved_.data() + i * bytes, part.data + static_cast<std::size_t>(from[i]) * bytes,
                  bytes);
    for (std::size_t i = 0; i < to.size() && bytes > 0; ++i)
      std::memcpy(part.data + static_cast<std::size_t>(to[i]) * bytes, moved_.data() + i * bytes,
                  bytes);
  }
}

void CpuKv::write(std::span<const std::int32_t> slots, std::span<const float> keys,
                  std::span<const float> values) {
  check_even(even_);
  const std::size_t layers = parts_.size() / 2;
  const int dims = parts_.front().dims;
  const auto width = static_cast<std::size_t>(dims);
  check_write(slots, keys, values, layers * width, capacity_);
  const auto count = static_cast<std::int64_t>(slots.size());
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t at = layer * slots.size() * width;
    kernels::store_kv(keys.data() + at, dims, count, dims, slots.data(), precision_,
                      this->keys(layer));
    kernels::store_kv(values.data() + at, dims, count, dims, slots.data(), precision_,
                      this->values(layer));
  }
}

bool CpuKv::copy_from(const KvStorage& other, std::span<const std::int32_t> from,
                      std::span<const std::int32_t> to, std::span<const std::int32_t> layers) {
  const auto* const source = dynamic_cast<const CpuKv*>(&other);
  if (source == nullptr || source->even_ != even_ || source->precision_ != precision_) return false;
  // Of layers of several widths both storages have all.
  const auto same_width = [](const Part& a, const Part& b) { return a.dims == b.dims; };
  if (even_ ? !same_width(source->parts_.front(), parts_.front())
            : !std::ranges::equal(source->parts_, parts_, same_width))
    return false;
  check_copy(from, source->capacity_, to, capacity_);
  const auto stored = static_cast<std::int32_t>(source->parts_.size() / 2);
  if (even_ && 2 * layers.size() != parts_.size())
    throw Error(ErrorCode::kInvalidArgument,
                "kv: expected a layer of the other storage for each of this one's " +
                    std::to_string(parts_.size() / 2) + ", found " + std::to_string(layers.size()));
  for (const std::int32_t layer : layers)
    if (layer < 0 || layer >= stored)
      throw Error(ErrorCode::kInvalidArgument,
                  "kv: expected layers of the other storage from 0 to " +
                      std::to_string(stored - 1) + ", found " + std::to_string(layer));
  const auto part_of = [&](std::size_t part) {
    return even_ ? 2 * static_cast<std::size_t>(layers[part / 2]) + part % 2 : part;
  };
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Part& read = source->parts_[part_of(part)];
    const std::size_t bytes = row_bytes(read);
    for (std::size_t i = 0; i < from.size() && bytes > 0; ++i)
      std::memcpy(parts_[part].data + static_cast<std::size_t>(to[i]) * bytes,
                  read.data + static_cast<std::size_t>(from[i]) * bytes, bytes);
  }
  return true;
}

bool CpuKv::fits(const formats::ModelConfig& config, kernels::Precision precision,
                 std::size_t layers) const {
  const std::vector<formats::KvShape> shapes = stored_shapes(config, layers);
  if (parts_.size() != 2 * shapes.size() || precision_ != precision) return false;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (parts_[2 * i].dims != shapes[i].key_values() ||
        parts_[2 * i + 1].dims != shapes[i].value_values())
      return false;
  return true;
}

kernels::KvView CpuKv::view(std::size_t layer) const {
  return {parts_[2 * layer].data, parts_[2 * layer + 1].data, precision_};
}

}  // namespace triescope

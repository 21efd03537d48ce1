// Zeroed memory, 64-byte aligned; from 4 MiB on aligned to 2 MiB and marked for huge pages (weights
// are streamed: fewer TLB misses). Movable value.
#pragma once

#include <cstddef>
#include <memory>

namespace triescope::kernels {

class Buffer {
 public:
  static constexpr std::size_t kHugePages = std::size_t{4} << 20;  // from so many bytes on

  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // Error{kOutOfMemory}: says how many

  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }
  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }

 private:
  struct Free {
    std::size_t mapped;  // bytes of a mapping; 0 = from the allocator
    Free() : mapped(0) {}
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace triescope::kernels

// Zeroed memory, 64-byte aligned; from 4 MiB on it is aligned to 2 MiB and marked for huge pages
// (weights are streamed: fewer TLB misses). Movable value.
#pragma once

#include <cstddef>
#include <memory>

namespace triescope::kernels {

class Buffer {
 public:
  // buffers of at least this size get huge pages
  static constexpr std::size_t kHugePages = std::size_t{4} << 20;

  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // Error{kOutOfMemory} says how many bytes

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
    std::size_t mapped;  // size of the mapping; 0 = memory from the allocator
    Free() : mapped(0) {}
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace triescope::kernels

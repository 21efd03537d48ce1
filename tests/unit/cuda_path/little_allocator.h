// libtorch's memory on the CPU with an end to it.
#pragma once

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace triescope::test {

// In place of libtorch's on the CPU: refuses what goes beyond a limit or a number, and keeps the most that was in
// use at once.
class LittleAllocator final : public c10::Allocator {
 public:
  LittleAllocator() : before_(c10::GetCPUAllocator()) {
    current_ = this;
    c10::SetCPUAllocator(this, 100);
  }
  ~LittleAllocator() override { c10::SetCPUAllocator(before_, 100); }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (in_use_ + bytes > limit || --allowed < 0)
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
  int allowed = INT_MAX;  // allocations before it refuses them all

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

}  // namespace triescope::test

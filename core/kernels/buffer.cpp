#include "core/kernels/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace triescope::kernels {

namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}

Buffer::Buffer(std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* p = size < bytes ? nullptr : std::aligned_alloc(alignment, size);
  if (p == nullptr) {
    throw Error(ErrorCode::kOutOfMemory,
                "out of memory: " + std::to_string(bytes) +
                    " bytes for weights were refused; close other programs or "
                    "load the model as bf16");
  }
  data_.reset(p);
#ifdef MADV_HUGEPAGE
  if (alignment == kHugePage)
    (void)madvise(p, size, MADV_HUGEPAGE);  // advice: refusal does not matter
#endif
  std::memset(p, 0, size);
  bytes_ = bytes;
}

void Buffer::Free::operator()(void* p) const { std::free(p); }

}  // namespace triescope::kernels

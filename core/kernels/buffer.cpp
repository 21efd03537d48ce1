#include "core/kernels/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace triescope::kernels {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20,
                      kPage = 64 << 10;  // at least as large as any system's small pages

// Maps new pages, aligned to huge ones. The system zeroes each when a thread first touches it. Null
// if there is no memory.
void* map(std::size_t size) {
  const std::size_t slack = size + kHugePage;
  void* const all =
      ::mmap(nullptr, slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  if (slack - before > size) ::munmap(begin + before + size, slack - before - size);
#ifdef MADV_HUGEPAGE
  (void)::madvise(begin + before, size, MADV_HUGEPAGE);  // only advice: a refusal does not matter
#endif
  return begin + before;
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
  if (bytes == 0) return;
  const bool huge = bytes >= kHugePages;
  const std::size_t unit = huge ? kPage : 64;
  const std::size_t size = (bytes + unit - 1) / unit * unit;
  const bool fits = size >= bytes && size + kHugePage > size;
  void* p = nullptr;
  if (fits && huge) {
    p = map(size);
    data_.get_deleter().mapped = size;
  } else if (fits) {
    p = std::aligned_alloc(unit, size);
    if (p != nullptr) std::memset(p, 0, size);
  }
  if (p == nullptr) {
    throw Error(ErrorCode::kOutOfMemory,
                "out of memory: " + std::to_string(bytes) +
                    " bytes for weights were refused; close other programs or "
                    "load the model as bf16");
  }
  data_.reset(p);
  bytes_ = bytes;
}

void Buffer::Free::operator()(void* p) const {
  if (mapped > 0)
    ::munmap(p, mapped);
  else
    std::free(p);
}

}  // namespace triescope::kernels

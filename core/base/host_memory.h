// How much memory a process of this machine could still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace triescope {

// kWithoutSwapping: what programs would do well to take. kAtMost: what they could, with everything
// swapped out and every file dropped from the cache that can be.
enum class FreeMemory : std::uint8_t { kWithoutSwapping, kAtMost };

// Bytes that can be allocated: what the kernel calls available, and what the process's control
// group (a container's limit, version 1 or 2) and its limit of address space leave. -1: not told,
// as where there is no /proc. `root`: where proc and sys are looked for.
std::int64_t free_host_memory(const std::filesystem::path& root = "/",
                              FreeMemory kind = FreeMemory::kWithoutSwapping);

}  // namespace triescope

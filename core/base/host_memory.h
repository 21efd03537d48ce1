// How much memory a process on this machine could still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace triescope {

// kWithoutSwapping: what a program should take at most. kAtMost: what it could take with everything
// swapped out and every file dropped from the cache.
enum class FreeMemory : std::uint8_t { kWithoutSwapping, kAtMost };

// Bytes that can be allocated: what the kernel calls available, within what the process's control
// group (a container's limit, version 1 or 2) and its limit of address space leave. -1: unknown, as
// where there is no /proc. `root`: where proc and sys are found.
std::int64_t free_host_memory(const std::filesystem::path& root = "/",
                              FreeMemory kind = FreeMemory::kWithoutSwapping);

}  // namespace triescope

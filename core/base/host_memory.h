// How much memory a process of this machine could still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace triescope {

// Bytes that can be allocated without swapping: what the kernel calls available, and what the
// process's control group (a container's limit, version 1 or 2) leaves. -1: not told, as where
// there is no /proc. `root`: where proc and sys are looked for.
std::int64_t free_host_memory(const std::filesystem::path& root = "/");

}  // namespace triescope

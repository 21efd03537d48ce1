#include "core/base/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace triescope {
namespace {

// The number after `key` at the start of a line; with an empty key, the file's first number.
std::optional<std::int64_t> number_of(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_not_of(" \t", key.size());
    if (digit == std::string::npos || line[digit] < '0' || line[digit] > '9') return std::nullopt;
    try {
      return std::stoll(line.substr(digit));
    } catch (const std::out_of_range&) {
      return std::nullopt;  // a number of 20 digits is no limit
    }
  }
  return std::nullopt;
}

const std::int64_t kPage = ::sysconf(_SC_PAGESIZE);

// Bytes left within a control group's limit, not counting file cache that can be dropped as used.
std::optional<std::int64_t> left_by_group(const std::filesystem::path& folder, const char* limit,
                                          const char* used, bool at_most) {
  const auto most = number_of(folder / limit, ""), now = number_of(folder / used, "");
  if (!most || !now) return std::nullopt;
  const auto cache = [&](const char* key) {
    return number_of(folder / "memory.stat", key).value_or(0);
  };
  const std::int64_t idle = cache("inactive_file "), busy = at_most ? cache("active_file ") : 0;
  return std::max<std::int64_t>(*most - *now + idle + busy, 0);
}

// Bytes left within the limit of `ulimit -v`.
std::optional<std::int64_t> left_by_limit(const std::filesystem::path& process) {
  const auto most = number_of(process / "limits", "Max address space");
  const auto pages = number_of(process / "statm", "");
  if (!most || !pages) return std::nullopt;
  return std::max<std::int64_t>(*most - *pages * ::sysconf(_SC_PAGESIZE), 0);
}

}  // namespace

std::int64_t free_host_memory(const std::filesystem::path& root, FreeMemory kind) {
  const auto available = number_of(root / "proc/meminfo", "MemAvailable:");
  if (!available) return -1;
  const bool at_most = kind == FreeMemory::kAtMost;
  const std::int64_t swap =
      at_most ? number_of(root / "proc/meminfo", "SwapFree:").value_or(0) * 1024 : 0;
  std::int64_t bytes = *available * 1024 + swap;
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  for (const auto& left : {left_by_group(groups, "memory.max", "memory.current", at_most),
                           left_by_group(groups / "memory", "memory.limit_in_bytes",
                                         "memory.usage_in_bytes", at_most)})
    if (left) bytes = std::min(bytes, *left + swap);
  if (const auto left = left_by_limit(root / "proc/self")) bytes = std::min(bytes, *left);
  return bytes;
}

}  // namespace triescope

// What a process could still take, as /proc and the control groups tell it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/host_memory.h"
#include "tests/support/paths.h"

namespace triescope {
namespace {

struct Root {
  test::TempDir folder;
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  }
  std::int64_t free() const { return free_host_memory(folder.path()); }
  std::int64_t at_most() const { return free_host_memory(folder.path(), FreeMemory::kAtMost); }
};

TEST_CASE("free memory: it is what the kernel calls available, or less in a container") {
  const Root root;
  CHECK(root.free() == -1);
  root.put("proc/meminfo",
           "MemTotal:       16000 kB\nMemFree:   50 kB\nMemAvailable:    9000 kB\n");
  CHECK(root.free() == 9000 * 1024);

  root.put("sys/fs/cgroup/memory.max", "max\n");
  root.put("sys/fs/cgroup/memory.current", "1000\n");
  CHECK(root.free() == 9000 * 1024);  // no limit
  root.put("sys/fs/cgroup/memory.max", "5000000\n");
  CHECK(root.free() == 5000000 - 1000);
  root.put("sys/fs/cgroup/memory.stat", "anon 600\ninactive_file 300\nactive_file 70\n");
  CHECK(root.free() == 5000000 - 1000 + 300);
  CHECK(root.at_most() == 5000000 - 1000 + 300 + 70);
  root.put("sys/fs/cgroup/memory.current", "6000000\n");
  CHECK(root.free() == 0);
}

TEST_CASE("free memory: the limit of a control group of version 1") {
  const Root root;
  root.put("proc/meminfo", "MemAvailable: 9000 kB\n");
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
  CHECK(root.free() == 9000 * 1024);
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  CHECK(root.free() == 3000000 - 2000);
}

TEST_CASE("free memory: what can be swapped out is there at most") {
  const Root root;
  root.put("proc/meminfo", "MemAvailable: 9000 kB\nSwapTotal: 800 kB\nSwapFree: 700 kB\n");
  CHECK(root.free() == 9000 * 1024);
  CHECK(root.at_most() == 9700 * 1024);
}

TEST_CASE("free memory: the limit of address space") {
  const Root root;
  root.put("proc/meminfo", "MemAvailable: 9000 kB\nSwapFree: 700 kB\n");
  root.put("proc/self/statm", "300 200 50 10 0 40 0\n");
  root.put("proc/self/limits",
           "Limit                     Soft Limit           Hard Limit           Units     \n"
           "Max address space         unlimited            unlimited            bytes     \n");
  CHECK(root.free() == 9000 * 1024);
  root.put("proc/self/limits", "Max address space         5000000              unlimited  bytes\n");
  const std::int64_t left = 5000000 - 300 * std::int64_t{::sysconf(_SC_PAGESIZE)};
  CHECK(root.free() == left);
  CHECK(root.at_most() == left);
  root.put("proc/self/statm", "5000 200 50 10 0 40 0\n");
  CHECK(root.free() == 0);
}

TEST_CASE("free memory: what is not a number is not believed") {
  const Root root;
  root.put("proc/meminfo", "MemAvailable: much\n");
  CHECK(root.free() == -1);
  root.put("proc/meminfo", "MemAvailable: 99999999999999999999999 kB\n");
  CHECK(root.free() == -1);
}

TEST_CASE("free memory: this machine tells it") { CHECK(free_host_memory() > (1 << 20)); }

}  // namespace
}  // namespace triescope

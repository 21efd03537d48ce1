// A process that may take little memory: what is beyond it is refused.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace triescope::test {

// This process may take `more` bytes of address space than it has, until the end of the scope. Not
// with a sanitizer (sanitized.h): they reserve their own.
class LittleMemory {
 public:
  explicit LittleMemory(rlim_t more) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit little{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more,
                        before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &little) == 0);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

}  // namespace triescope::test

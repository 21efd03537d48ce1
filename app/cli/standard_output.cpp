#include "app/cli/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "core/base/error.h"

namespace triescope::app {

void prepare_standard_output() {
  ::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free descriptor, which is this one. It is read-only, so writing to it
    // fails, as for a closed one.
    [[maybe_unused]] const int taken = ::open("/dev/null", O_RDONLY);
  }
}

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout && std::ferror(stdout) == 0) return;
  // After an earlier failure nothing may be left to write, and the reason is lost: writing one more
  // byte finds it.
  if (errno == 0 && ::write(STDOUT_FILENO, "\n", 1) == 1) errno = 0;
  const std::string why = errno ? std::string(" (") + std::strerror(errno) + ")" : "";
  throw Error(ErrorCode::kIoError, "standard output: cannot be written" + why);
}

}  // namespace triescope::app

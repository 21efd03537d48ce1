// Both ends of a line within this process.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <utility>

#include "app/remote/line.h"
#include "core/base/error.h"

namespace triescope::test {

inline std::pair<std::unique_ptr<app::Line>, std::unique_ptr<app::Line>> line_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::kIoError, "no socket can be made");
  return {app::line_over(ends[0], ends[0]), app::line_over(ends[1], ends[1])};
}

}  // namespace triescope::test

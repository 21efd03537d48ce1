// `triescope decode --remote`: one run on another machine, headless.
#pragma once

#include <string>

#include "app/remote/dial.h"
#include "app/session/request.h"

namespace triescope::app {

struct RemoteDecode {
  RemotePlace place;
  RunRequest request;
  std::string capture;  // path; "" = none is kept
  MeasureOptions measure = {};
  bool as_json = false, quiet = false;
};

// Decodes to the end; a broken line is taken up again a few times. Returns the exit code. Errors:
// those of connect_to(), and what the run reports.
int decode_remote(const RemoteDecode& options);

}  // namespace triescope::app

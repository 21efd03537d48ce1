// One run, decoded headless into a capture.
#pragma once

#include <stop_token>
#include <string>

#include "app/session/request.h"
#include "core/base/log.h"

namespace triescope::app {

// Decodes the request to its end into a new capture at `path`, at full detail. Errors: those of
// Run; what was recorded stays.
void record_run(const RunRequest& request, const std::string& path, const ProgressSink& progress,
                std::stop_token stop);

}  // namespace triescope::app

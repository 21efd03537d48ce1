// Walks all weights of a model on a few threads, with progress and cancelling.
#pragma once

#include <functional>
#include <stop_token>

#include "core/base/log.h"
#include "core/files/weights.h"

namespace triescope {

struct WeightTask {
  formats::Part part;
  formats::WeightShape shape;
};

// Calls `place` once for every weight, from `threads` threads at once (each weight from one), the
// largest first. `progress` gets the tensor's name and the number of values done so far, never from
// two threads at once. The first error of a `place` is thrown again here. Error{kCancelled}: stop
// was requested; kIoError: the file changed meanwhile.
void load_weights(const formats::WeightSource& source, int threads, const ProgressSink& progress,
                  std::stop_token stop, const std::function<void(const WeightTask&)>& place);

}  // namespace triescope

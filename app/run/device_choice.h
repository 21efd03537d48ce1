// What follows from the choice of a device where nobody says more.
#pragma once

#include <string>

#include "app/run/request.h"

namespace triescope::app {

// f32 on a CPU, whose kernels take matrices as they lie in the file; bf16 on a GPU, where all that
// does not lie in quantised blocks takes the room of the dtype, and reading it is what a step costs.
DType default_dtype(const std::string& device);

// The request on that device. Its dtype becomes the default where the kind of device is another;
// between two of one kind it stays.
void choose_device(RunRequest& request, const std::string& device);

// The options of a request's target.
LoadOptions target_options(const RunRequest& request);

// The options of a draft model beside a target with `target`'s: the same, but on the device that the
// request names for it. On another kind of device with that one's default dtype, keys and values
// included.
LoadOptions draft_options(const RunRequest& request, const LoadOptions& target);

}  // namespace triescope::app

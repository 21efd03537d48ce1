// Defaults that follow from the choice of a device.
#pragma once

#include <string>

#include "app/session/request.h"

namespace triescope::app {

// f32 on a CPU, whose kernels take matrices as they are in the file; bf16 on a GPU, where
// everything outside quantised blocks takes the dtype's memory, and reading it is what a step
// costs.
DType default_dtype(const std::string& device);

// Sets the request's device. If the new device is of another kind, the dtype becomes its default;
// otherwise the dtype stays.
void choose_device(RunRequest& request, const std::string& device);

// The options of a request's target.
LoadOptions target_options(const RunRequest& request);

// The options of a draft model beside a target with `target`'s options: the same, but on the device
// that the request names for it. On another kind of device it has that device's default dtype, for
// keys and values too.
LoadOptions draft_options(const RunRequest& request, const LoadOptions& target);

}  // namespace triescope::app

// Whether a model has room on the device that is asked for, said before anything is freed or read.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/model.h"

namespace triescope::app {

// Bytes free on a device, -1 where nothing tells (a GPU is not asked yet).
std::int64_t free_memory(const std::string& device);

// "" where the model fits into `free` bytes (or free < 0); else how much it needs, how much there
// is, and what would fit.
std::string why_it_does_not_fit(const ModelInfo& info, const LoadOptions& options,
                                std::int64_t free);

}  // namespace triescope::app

// Whether a model and a run have room on the requested device. It is checked before anything is
// freed, read or decoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/session/request.h"
#include "core/model/model.h"

namespace triescope::app {

// Free bytes on a device; -1 = unknown (core/model/device_memory.h).
std::int64_t free_memory(const std::string& device);

// The same for a device in a list: GPUs that are not `chosen` are asked without creating a context
// there.
std::int64_t free_in_list(const std::string& device, const std::string& chosen);

// For a list of devices, in its order: "12.0 GB free", "24.0 GB" if the free memory is unknown, ""
// if even the size is.
std::vector<std::string> device_memory_texts(const std::vector<DeviceInfo>& devices,
                                             const std::string& chosen);

// "" if the model fits into `free` bytes (or free < 0); else how much it needs, how much there is,
// and what would fit.
std::string why_it_does_not_fit(const ModelInfo& info, const LoadOptions& options,
                                std::int64_t free);

// The same for a draft head at `path` that needs `need` bytes (head_need()).
std::string why_head_does_not_fit(const std::string& path, std::int64_t need,
                                  const std::string& device, std::int64_t free);

// The most slots that a run fills: its prompt, once or (conventional batch beam search) once for
// each beam, all that its beams may write, and 64 drafts if its method drafts.
std::int64_t most_slots(const RunRequest& request, std::int64_t prompt_tokens);

// "" if a run's keys and values fit into `free` bytes (or free < 0), else what they may take and
// what takes less. Most runs end before they are that long, so this is a warning and no reason to
// refuse.
std::string why_kv_may_not_fit(const ModelInfo& info, const LoadOptions& options,
                               const RunRequest& request, std::int64_t prompt_tokens,
                               std::int64_t free);

}  // namespace triescope::app

#include "app/session/device_choice.h"

#include <optional>

#include "core/model/cuda_driver.h"

namespace triescope::app {

DType default_dtype(const std::string& device) {
  return device == "cpu" ? DType::kF32 : DType::kBF16;
}

void choose_device(RunRequest& request, const std::string& device) {
  if (default_dtype(device) != default_dtype(request.device)) request.dtype = default_dtype(device);
  request.device = device;
}

LoadOptions target_options(const RunRequest& request) {
  LoadOptions options;
  options.device = request.device;
  options.dtype = request.dtype;
  options.kv_dtype = request.kv_dtype;
  return options;
}

LoadOptions draft_options(const RunRequest& request, const LoadOptions& target) {
  LoadOptions options = target;
  const auto same = [&] {
    const std::optional<int> index = cuda_index(request.draft_device);
    return request.draft_device == target.device || (index && index == cuda_index(target.device));
  };
  if (request.draft_device.empty() || same()) return options;
  options.device = request.draft_device;
  if (cuda_index(options.device).has_value() != cuda_index(target.device).has_value()) {
    options.dtype = default_dtype(options.device);
    options.kv_dtype.reset();
  }
  return options;
}

}  // namespace triescope::app

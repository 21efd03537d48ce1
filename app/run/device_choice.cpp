#include "app/run/device_choice.h"

namespace triescope::app {

DType default_dtype(const std::string& device) {
  return device == "cpu" ? DType::kF32 : DType::kBF16;
}

void choose_device(RunRequest& request, const std::string& device) {
  if (default_dtype(device) != default_dtype(request.device)) request.dtype = default_dtype(device);
  request.device = device;
}

}  // namespace triescope::app

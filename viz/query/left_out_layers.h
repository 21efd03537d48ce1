// The layers that the drafting model leaves out, as a capture's figures say (core/capture/metric_names.h).
#pragma once

#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// [layers of the model]: whether each is left out at the cursor. Empty: the capture does not say, or not yet.
std::vector<bool> left_out_layers(const capture::Capture& capture, capture::Tick cursor);
// "12–19, 23: 9 of 30"
std::string left_out_text(const std::vector<bool>& left_out);

}  // namespace triescope::viz

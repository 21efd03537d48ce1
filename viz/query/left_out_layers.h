// What of its layers the drafting model leaves out, as a capture's figures say (core/capture/metric_names.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

enum class LeftOut : std::uint8_t { kNothing, kAttention, kMlp, kLayer };

// [layers of the model]: what of each is left out at the cursor. Empty: the capture does not say, or not yet.
std::vector<LeftOut> left_out_layers(const capture::Capture& capture, capture::Tick cursor);
// Counts the parts that are left out. A layer has two: its attention and its MLP.
std::int64_t left_out_parts(const std::vector<LeftOut>& left_out);
// "12–19, 23: 9 of 30", or "12; attention of 3, 5; MLP of 7: 5 of 60 parts" where parts are left out alone.
std::string left_out_text(const std::vector<LeftOut>& left_out);

}  // namespace triescope::viz

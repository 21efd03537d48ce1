// A run's settings according to its capture.
#pragma once

#include <string>
#include <vector>

#include "core/capture/records.h"

namespace triescope::viz {

struct RunSetting {
  std::string name;   // for programs: "num_drafts"
  std::string title;  // for people; "" if the capture has none
  std::string value;

  const std::string& shown() const { return title.empty() ? name : title; }
};
// Sorted by name.
std::vector<RunSetting> run_settings(const capture::RunInfo& run);

}  // namespace triescope::viz

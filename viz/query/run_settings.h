// A run's settings as its capture tells them.
#pragma once

#include <string>
#include <vector>

#include "core/capture/records.h"

namespace triescope::viz {

struct RunSetting {
  std::string name;   // for programs: "num_drafts"
  std::string title;  // for people; "" where the capture has none
  std::string value;  // in the recorder's word for it, where there is one: "auto"

  const std::string& shown() const { return title.empty() ? name : title; }
};
// By name.
std::vector<RunSetting> run_settings(const capture::RunInfo& run);
// All in one line: "Beams 3, KV Policy recycle".
std::string settings_text(const capture::RunInfo& run);

}  // namespace triescope::viz

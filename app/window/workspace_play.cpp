// The pace of playback.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/window/workspace.h"

namespace triescope::app {

const std::vector<double>& play_speeds() {
  static const std::vector<double> speeds = {0.25, 0.5, 1, 2, 4, 8};
  return speeds;
}

std::string play_speed_text(double speed) {
  char text[32];
  std::snprintf(text, sizeof text, "%g×", speed);
  return text;
}

void Workspace::set_play_speed(double speed) {
  preferences.play_speed = *std::ranges::min_element(play_speeds(), {}, [&](double one) {
    return std::abs(std::log(one / std::max(speed, 1e-6)));
  });
  if (active_) active_->next_play_time = 0;  // the step under way does not keep the old pace
  say(LogLevel::kInfo, "playback speed: " + play_speed_text(preferences.play_speed));
}

void Workspace::change_play_speed(int direction) {
  const auto& speeds = play_speeds();
  const auto at = std::ranges::lower_bound(speeds, preferences.play_speed) - speeds.begin();
  const auto last = static_cast<std::ptrdiff_t>(speeds.size()) - 1;
  set_play_speed(
      speeds[static_cast<std::size_t>(std::clamp(at + direction, std::ptrdiff_t{0}, last))]);
}

}  // namespace triescope::app

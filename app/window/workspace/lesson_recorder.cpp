#include "app/window/workspace/lesson_recorder.h"

#include <algorithm>

#include "lessons/actions.h"

namespace triescope::app {

bool LessonRecorder::see(Seen now) {
  if (now == now_) return false;
  now_ = std::move(now);
  return true;
}

std::vector<std::string> LessonRecorder::lines() const {
  std::vector<std::string> lines;
  const std::int32_t step = capture::step_of(now_.cursor);
  const capture::Phase phase = capture::phase_of(now_.cursor);
  lines.push_back("cursor " + std::to_string(step) +
                  (phase == capture::Phase::kDraft ? "" : std::string(" ") + to_string(phase)));
  if (!now_.maximised.empty()) {
    lines.push_back("maximise-panel " + now_.maximised);
  } else if (now_.panels != begin_.panels || !begin_.maximised.empty()) {
    if (now_.panels.size() <= lessons::kMostPanels) {
      std::string all = "panels";
      for (const std::string& panel : now_.panels) all += " " + panel;
      if (!now_.panels.empty()) lines.push_back(all);
    } else {
      // A lesson's layout cannot hold so many, so only those that came to the front are named.
      for (const std::string& panel : now_.panels)
        if (std::find(begin_.panels.begin(), begin_.panels.end(), panel) == begin_.panels.end())
          lines.push_back("panel " + panel);
    }
  }
  if (now_.range != begin_.range)
    lines.push_back(now_.range ? "range " + std::to_string(now_.range->first) + " " +
                                     std::to_string(now_.range->second)
                               : "range all");
  if (now_.locked != begin_.locked) lines.push_back("lock " + std::to_string(now_.locked));
  return lines;
}

std::string LessonRecorder::block() const {
  std::string text = "```do\n";
  for (const std::string& line : lines()) text += line + "\n";
  return text + "```\n";
}

}  // namespace triescope::app

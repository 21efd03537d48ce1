#include "app/window/workspace/lecture_layout.h"

#include <algorithm>
#include <cmath>

#include "viz/handout/pane_plan.h"

namespace triescope::app {
namespace {

constexpr float kScreenWidth = 1920, kScreenHeight = 1080;  // px; a common projector's
constexpr float kEm = 33;            // px on that projector: 0.74 em are 24 px
constexpr float kNarration = 0.86f;  // of that em: its smallest letters have 24 px too
constexpr float kLeastEm = 14;
constexpr float kNarrationShare = 0.36f, kFirstShare = 0.56f, kLectureLessonShare = 0.34f;
constexpr float kWideEnough = 1.7f;  // width over height that two panels need beside each other

}  // namespace

// viz::maximised() is not used here: it enlarges the reader's own letters by what a pane has to
// spare, at most by half. An audience is promised a least size. That follows the window alone,
// whatever the reader's text size is. It is the same with one panel as with two, so that no letter
// changes when a panel comes or goes.
float lecture_em(viz::Point window, float scale) {
  const float share = std::min(window.x / kScreenWidth, window.y / kScreenHeight);
  return std::max(kLeastEm, std::ceil(kEm * share * std::max(1.0f, scale)));
}

float narration_em(float lecture_em) {
  return std::max(kLeastEm, std::ceil(lecture_em * kNarration));
}

LecturePlaces lecture_places(viz::Point window, float em, std::size_t panels, bool lesson) {
  const float margin = std::round(em * 0.5f), gap = margin;
  const float below = std::round(window.y * kNarrationShare);
  LecturePlaces places;
  if (lesson) {
    const float column = std::round(window.x * kLectureLessonShare);
    places.lesson = {window.x - margin - column, margin, column, window.y - 2 * margin};
    window.x = places.lesson.x - gap + margin;
  }
  places.narration = {margin, window.y - margin - below, window.x - 2 * margin, below};
  const viz::Rect area{margin, margin, window.x - 2 * margin,
                       std::max(1.0f, places.narration.y - gap - margin)};
  if (panels < 2) {
    places.panels = {area};
  } else if (area.w >= area.h * kWideEnough) {
    const float first = std::round((area.w - gap) * kFirstShare);
    places.panels = {{area.x, area.y, first, area.h},
                     {area.x + first + gap, area.y, area.w - first - gap, area.h}};
  } else {
    const float first = std::round((area.h - gap) * kFirstShare);
    places.panels = {{area.x, area.y, area.w, first},
                     {area.x, area.y + first + gap, area.w, area.h - first - gap}};
  }
  return places;
}

std::array<LecturePlaces, 2> lecture_pair(viz::Point window, float em, bool lesson) {
  LecturePlaces left = lecture_places(window, em, 1, lesson);
  const float gap = std::round(em * 0.5f), width = std::floor((left.narration.w - gap) / 2);
  LecturePlaces right = left;
  right.lesson = {};
  for (viz::Rect* place : {&left.panels.front(), &left.narration}) place->w = width;
  for (viz::Rect* place : {&right.panels.front(), &right.narration}) {
    place->x += width + gap;
    place->w = place->w - width - gap;
  }
  return {left, right};
}

const std::vector<std::string>& lecture_panels() {
  static const std::vector<std::string> panels = {
      "trie", "text", "mask", "kv", "verdict", "positions", "memory", "drafts", "candidates"};
  return panels;
}

std::vector<std::vector<std::string>> lecture_arrangements(const capture::Capture& run) {
  std::vector<std::string> panels = viz::handout_panels(run);
  if (panels.front() != "trie") panels = {"trie", "text"};  // the run has yet to begin
  std::vector<std::vector<std::string>> all;
  // Plain decoding leaves a trie of one line, and a handout of it shows no cache.
  const auto has = [&](const char* name) { return std::ranges::count(panels, name) > 0; };
  if (has("verdict") && !has("kv"))
    return {{"verdict", "text"}, {"candidates", "text"}, {"trie", "text"}, {"text"}};
  for (std::size_t i = 1; i < panels.size(); ++i) all.push_back({panels.front(), panels[i]});
  all.push_back({panels.front()});
  return all;
}

}  // namespace triescope::app

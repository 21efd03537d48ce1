#include "app/window/workspace/lesson_progress.h"

#include <algorithm>
#include <vector>

namespace triescope::app {

std::string answered_text(const LessonProgress& progress, const lessons::Lesson& lesson) {
  std::size_t questions = 0;
  for (const lessons::Step& step : lesson.steps)
    questions += static_cast<std::size_t>(
        std::ranges::count_if(step.pieces, [](const lessons::Piece& piece) {
          return std::holds_alternative<lessons::Predict>(piece);
        }));
  const std::size_t answered = progress.given.size();
  if (answered == 0 || answered >= questions) return "";
  return std::to_string(answered) + " of " + std::to_string(questions) + " answered";
}

LessonProgress carried_over(const LessonProgress& progress, std::span<const lessons::Step> before,
                            std::span<const lessons::Step> after) {
  // Each old step's new number. Among equal steps, the first old one is the first new one.
  std::vector<std::optional<std::size_t>> now(before.size());
  std::vector<bool> taken(after.size(), false);
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t j = 0; j < after.size() && !now[i]; ++j)
      if (!taken[j] && after[j].source == before[i].source) {
        now[i] = j;
        taken[j] = true;
      }
  LessonProgress result;
  for (const auto& [place, answer] : progress.given)
    if (const auto step = now[place.first]) result.given[{*step, place.second}] = answer;
  for (const auto& place : progress.met)
    if (const auto step = now[place.first]) result.met.insert({*step, place.second});
  if (const auto step = now[progress.step]) {
    result.step = *step;
    return result;
  }
  const auto same_title = std::find_if(after.begin(), after.end(), [&](const lessons::Step& step) {
    return step.title == before[progress.step].title;
  });
  result.step = same_title != after.end() ? static_cast<std::size_t>(same_title - after.begin())
                                          : std::min(progress.step, after.size() - 1);
  return result;
}

}  // namespace triescope::app

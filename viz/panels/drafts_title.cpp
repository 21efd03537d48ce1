#include "viz/panels/drafts_title.h"

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {
namespace {

using capture::Whose;

std::size_t drafts_of(const DraftLevels& drafts) {
  std::size_t sum = 0;
  for (const DraftLevel& level : drafts.levels) sum += level.drafts.size();
  return sum;
}

// Counts all proposals, those left out of the forward, and those that the target has to verify or
// has accepted.
std::string headline(const DraftLevels& drafts, const Scene& scene) {
  const StepSoFar step = step_so_far(*scene.capture, drafts.step, scene.cursor);
  std::string head = "step " + std::to_string(drafts.step) + ": ";
  const std::string levels = " on " + counted(drafts.levels.size(), "level");
  if (step.withdrawn > 0)
    head += std::to_string(drafts_of(drafts)) + " proposed" + levels + ", " +
            std::to_string(step.withdrawn) + " withdrawn, " + drafts_text(step);
  else
    head += counted(drafts_of(drafts), "draft") + levels +
            (step.decided ? ", " + drafts_text(step) : std::string());
  const auto forwards = scene.capture->inputs(drafts.step, Whose::kHead);
  if (!forwards.empty())
    head += "   (" + counted(forwards.back().forward + 1, "forward") + " of the head, " +
            counted(forwards.size(), "row") + ")";
  return head;
}

}  // namespace

std::vector<std::string> drafts_title(Canvas& canvas, const DraftLevels& drafts, float width,
                                      float most_lines, const Scene& scene) {
  const std::string title = drafts.levels.empty()
                                ? "step " + std::to_string(drafts.step) + ": nothing drafted"
                                : headline(drafts, scene);
  auto lines = wrap_text(canvas, title, bold_text(scene, 0.9f), width);
  while (lines.size() > 1 && static_cast<float>(lines.size()) > most_lines) {
    const std::string last = lines.back();
    lines.pop_back();
    lines.back() += " " + last;
  }
  return lines;
}

}  // namespace triescope::viz

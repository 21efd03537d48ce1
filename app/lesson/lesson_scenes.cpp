#include "app/lesson/lesson_scenes.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"
#include "viz/panels/panel.h"

namespace triescope::app {

using lessons::Action;
using lessons::Link;

LessonScenes::LessonScenes(const capture::Capture& capture, std::string path)
    : capture_(capture), path_(std::move(path)) {
  if (capture.last_step() < 0 || capture.last_step() >= kMostSteps)
    throw Error(ErrorCode::kInvalidArgument,
                path_ + ": expected a run of 1 to " + std::to_string(kMostSteps) +
                    " steps for a page; found " + std::to_string(capture.last_step() + 1));
  end_ = (capture.last_step() + 1) * capture::kPhaseCount;
  for (std::int32_t view = 0; view <= end_; ++view)
    views_.push_back({std::min<capture::Tick>(
        capture.end_tick(),
        capture::make_tick(view / capture::kPhaseCount,
                           static_cast<capture::Phase>(view % capture::kPhaseCount)))});
}

std::int32_t LessonScenes::view_of(capture::Tick tick) const {
  return std::min(end_, capture::step_of(tick) * capture::kPhaseCount +
                            static_cast<std::int32_t>(capture::phase_of(tick)));
}

LessonScene LessonScenes::begin(const LessonScene& before) {
  LessonScene scene = before;
  scene.lock = -1;
  scene.range.reset();
  return scene;
}

LessonScene LessonScenes::after(LessonScene scene, const std::vector<Action>& actions,
                                std::vector<std::string>& runs) {
  // The view without the range.
  const auto moment = [&](std::int32_t view) { return view_of(views_[view].cursor); };
  std::int32_t view = scene.view <= end_ ? scene.view : moment(scene.view);
  for (const Action& action : actions) {
    std::string argument;
    try {
      argument = resolve(action, trace(), viz::panel_names());
    } catch (const Error& error) {
      throw Error(error.code(), path_ + ":" + std::to_string(action.line) + ": " + error.what());
    }
    const std::vector<std::string> args = words(argument);
    if (starts_a_run(action) || compares(action)) {
      runs.push_back((compares(action) ? "beside " : "") + argument);
    } else if (action.verb == "cursor") {
      const auto phase = args.size() > 1 ? capture::phase_from_string(args[1]) : std::nullopt;
      view = view_of(capture::make_tick(lessons::whole_number("a step", args[0]),
                                        phase.value_or(capture::Phase::kDraft)));
    } else if (action.verb == "lock") {
      scene.lock = lessons::whole_number("a node", argument);
    } else if (action.verb == "range") {
      scene.range.reset();
      if (args.size() == 2)
        scene.range = {lessons::whole_number("a step", args[0]),
                       lessons::whole_number("a step", args[1])};
    } else if (action.verb == "panel") {
      // If other panels are shown, it is a tab that comes to the front.
      if (std::ranges::find(scene.panels, argument) == scene.panels.end()) {
        if (scene.panels.size() >= lessons::kMostPanels) scene.panels.pop_back();
        scene.panels.push_back(argument);
      }
    } else {
      scene.panels = args;  // panels, maximise-panel
    }
  }
  panels_.insert(scene.panels.begin(), scene.panels.end());
  scene.view = view;
  if (scene.range) {
    const viz::PaneView limited{views_[view].cursor, scene.range};
    const auto known = std::find(views_.begin() + end_, views_.end(), limited);
    scene.view = static_cast<std::int32_t>(known - views_.begin());
    if (known == views_.end()) views_.push_back(limited);
  }
  return scene;
}

std::string LessonScenes::target_of(const Link& link, const LessonScene& scene) {
  if (link.kind == Link::Kind::kWeb) return "w" + link.target.pieces.front().text;
  if (link.kind == Link::Kind::kLesson)
    return "l" + std::filesystem::path(link.target.pieces.front().text)
                     .replace_extension(".html")
                     .string();
  try {
    const std::string target = fill(link.target, trace());
    if (link.kind == Link::Kind::kPanel) {
      panels_.insert(target);
      return "p" + target;
    }
    if (link.kind == Link::Kind::kStep)
      return "v" + std::to_string(view_of(lessons::tick_of_link(target)));
    const std::int32_t id = lessons::whole_number("a node or a slot", target);
    const std::int32_t node =
        link.kind == Link::Kind::kSlot ? capture_.slot_at(id, views_[scene.view].cursor).node : id;
    return node == -1 ? "" : "n" + std::to_string(node);
  } catch (const Error&) {
    return "";  // `lesson check` says why
  }
}

std::vector<std::pair<std::int32_t, std::optional<std::int32_t>>> LessonScenes::met_at(
    const lessons::Task& task) const {
  std::vector<std::pair<std::int32_t, std::optional<std::int32_t>>> met;
  lessons::Moment moment;
  moment.panels = viz::panel_names();
  const auto holds = [&](std::int32_t node) {
    moment.focus = node;
    try {
      return evaluate_truth(task.when.expression, {capture_, &moment});
    } catch (const Error&) {
      return false;  // a question that this moment cannot answer is not met
    }
  };
  const auto nodes = static_cast<std::int32_t>(capture_.nodes().size());
  const auto prompt = static_cast<std::int32_t>(capture_.run().prompt_tokens.size());
  for (std::int32_t view = 0; view <= end_; ++view) {
    moment.cursor = views_[view].cursor;
    if (holds(-1)) {
      met.emplace_back(view, std::nullopt);
      continue;
    }
    for (std::int32_t node = -1 - prompt; node < nodes; ++node)
      if (node != -1 && holds(node)) met.emplace_back(view, node);
  }
  return met;
}

}  // namespace triescope::app

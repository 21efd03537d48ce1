#include "app/window/shell/find_in_run.h"

#include "app/window/workspace/workspace.h"
#include "core/base/counted.h"
#include "core/base/error.h"

namespace triescope::app {

void FindInRun::update(const Workspace& workspace) {
  const Document* const document = workspace.active();
  const std::uint64_t serial = document ? document->serial : 0;
  const std::size_t nodes = document ? document->capture->nodes().size() : 0;
  const std::int32_t steps = document ? last_whole_step(*document->capture) + 1 : 0;
  const bool is_new = serial != serial_ || by != found_by_ || asked() != found_for_;
  if (!is_new && (by == FindBy::kText ? nodes == nodes_ : steps == steps_)) return;
  // Where the run goes on, only its new steps are looked at.
  const std::int32_t first = is_new ? 0 : steps_;
  if (is_new || by == FindBy::kText) places_.clear(), keys_.clear();
  serial_ = serial;
  nodes_ = nodes;
  steps_ = steps;
  found_by_ = by;
  found_for_ = asked();
  problem_.clear();
  if (!document || asked().empty()) return;
  if (by == FindBy::kWhere) return add_steps(*document->capture, first);
  for (const std::int32_t node : nodes_with(*document->capture, query)) {
    const auto place = static_cast<std::size_t>(node);
    places_.push_back({document->capture->nodes()[place].tick + 1, node});
    keys_.push_back(node);
  }
}

void FindInRun::add_steps(const capture::Capture& capture, std::int32_t first) {
  try {
    const StepCondition condition(where);
    condition.check_metrics(capture);
    for (const StepMatch& match : steps_where(capture, condition, first, steps_ - 1)) {
      places_.push_back({match.cursor(), match.node()});
      keys_.push_back(match.cursor());
    }
  } catch (const Error& error) {
    problem_ = error.what();
  }
}

std::int64_t FindInRun::key_here(const Document& document, int direction) const {
  if (by == FindBy::kWhere) return document.cursor;
  if (document.focus.locked >= 0) return document.focus.locked;
  const auto there = static_cast<std::int64_t>(document.capture->nodes_at(document.cursor).size());
  return direction > 0 ? there - 1 : there;
}

std::string FindInRun::none_text() const {
  if (!problem_.empty()) return problem_;
  if (by == FindBy::kWhere) return "no step of this run has " + where;
  return "'" + query + "' is neither in the text of this run nor in its drafts";
}

void FindInRun::go(Workspace& workspace, int direction) {
  update(workspace);
  Document* const document = workspace.active();
  if (!document || asked().empty()) return;
  if (places_.empty())
    return workspace.say(problem_.empty() ? LogLevel::kInfo : LogLevel::kError, none_text());
  const FoundPlace place = places_[match_beside(keys_, key_here(*document, direction), direction)];
  workspace.documents.set_cursor(place.cursor);
  if (document->focus.locked != place.node) workspace.comparison.lock_focus(place.node);
  const std::int32_t step = capture::step_of(place.cursor - 1);
  const std::string found =
      by == FindBy::kWhere
          ? "step " + std::to_string(step) + ", " +
                match_text(facts_of_step(*document->capture, step), place.node)
          : "node " + std::to_string(place.node) + " in step " + std::to_string(step);
  workspace.say(LogLevel::kInfo, count_text(workspace) + ": " + found);
}

std::string FindInRun::here_text(const Workspace& workspace) const {
  const Document* const document = workspace.active();
  if (!document || by != FindBy::kWhere || where.empty() || !problem_.empty()) return "";
  for (const FoundPlace& place : places_)
    if (place.cursor == document->cursor) {
      const std::int32_t step = capture::step_of(place.cursor - 1);
      return "step " + std::to_string(step) + ", " +
             match_text(facts_of_step(*document->capture, step), place.node);
    }
  return "true of " + std::to_string(places_.size()) + " of " + counted(steps_, "step");
}

std::string FindInRun::count_text(const Workspace& workspace) const {
  if (asked().empty() || !problem_.empty()) return "";
  if (places_.empty()) return "not found";
  const std::string all = std::to_string(places_.size());
  const Document* const document = workspace.active();
  if (!document) return all + " found";
  const std::int64_t shown = by == FindBy::kWhere ? document->cursor : document->focus.locked;
  const auto here = std::ranges::lower_bound(keys_, shown);
  const bool is_here = here != keys_.end() && *here == shown;
  if (!is_here) return all + " found";
  return std::to_string(here - keys_.begin() + 1) + " of " + all;
}

}  // namespace triescope::app

#include "app/window/workspace/runs_acceptance.h"

#include "app/study/study_table.h"

namespace triescope::app {

void RunsAcceptance::show(const std::string& folder, const std::vector<StudyRow>& runs) {
  if (folder != folder_) {
    folder_ = folder;
    methods_.clear(), behind_.clear(), problem_.clear();
    choice_.reset();
  }
  runs_ = runs;
  wanted_ = folder;
  // A repeat has the same drafts again, and is not counted.
  for (const StudyRow& row : runs)
    if (row.at("repeat") == 1) wanted_ += '\n' + study_cell(row, "capture", "");
}

bool RunsAcceptance::update() {
  bool changed = false;
  if (task_ && task_->done()) {
    take(*task_);
    task_.reset();
    changed = true;
  }
  // A computation under way ends first, so that its thread is never waited for in a frame.
  if ((wanted_ == asked_ && by == asked_by_) || task_) return changed;
  asked_ = wanted_;
  asked_folder_ = folder_;
  asked_by_ = by;
  task_ = std::make_unique<Later<std::vector<MethodAcceptance>>>(
      [folder = folder_, runs = runs_, by = by](std::stop_token stop) {
        return study_acceptance(folder, runs, by, {}, stop);
      });
  return true;
}

void RunsAcceptance::take(const Later<std::vector<MethodAcceptance>>& counted) {
  if (asked_folder_ != folder_) return;
  if (shown_by_ != asked_by_) choice_.reset();
  problem_ = counted.error();
  if (!problem_.empty()) return;
  shown_by_ = asked_by_;
  methods_.clear();
  behind_.clear();
  for (const MethodAcceptance& method : counted.value()) {
    methods_.push_back(
        viz::shown_acceptance(shown_by_, {method.name, method.runs, method.acceptance}));
    // The groups that are not shown have no bar to choose.
    std::vector<std::vector<WorstRun>>& behind = behind_.emplace_back();
    for (const viz::AcceptanceGroup& group : methods_.back().acceptance.groups)
      for (std::size_t i = 0; i < method.acceptance.groups.size(); ++i)
        if (method.acceptance.groups[i].label == group.label) behind.push_back(method.behind[i]);
  }
}

std::optional<std::pair<std::size_t, std::size_t>> RunsAcceptance::chosen_place() const {
  if (!choice_) return std::nullopt;
  for (std::size_t m = 0; m < methods_.size(); ++m) {
    if (methods_[m].name != choice_->method) continue;
    const auto& groups = methods_[m].acceptance.groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (groups[g].label == choice_->group) return std::pair{m, g};
  }
  return std::nullopt;
}

void RunsAcceptance::choose(std::size_t method, std::size_t group) {
  const Choice one{methods_.at(method).name, methods_[method].acceptance.groups.at(group).label};
  choice_ = choice_ == one ? std::nullopt : std::optional(one);
}

bool RunsAcceptance::is_chosen(std::size_t method, std::size_t group) const {
  return chosen_place() == std::pair{method, group};
}

std::string RunsAcceptance::choice_words() const {
  return has_choice() ? choice_->method + ", " + choice_->group : "";
}

const std::vector<WorstRun>& RunsAcceptance::behind() const {
  static const std::vector<WorstRun> kNone;
  const auto place = chosen_place();
  return place ? behind_[place->first][place->second] : kNone;
}

}  // namespace triescope::app

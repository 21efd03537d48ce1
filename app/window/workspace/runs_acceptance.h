// RunsAcceptance: where the drafts of a study's runs were accepted, as the table's other sheet shows
// it: computed on a thread of its own, with the runs behind a chosen bar. Window thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/study/study_acceptance.h"
#include "app/window/workspace/later.h"
#include "viz/panels/acceptance_sheet.h"

namespace triescope::app {

class RunsAcceptance {
 public:
  viz::AcceptanceBy by = viz::AcceptanceBy::kDepth;

  // The runs to count, of a study's folder.
  void show(const std::string& folder, const std::vector<StudyRow>& runs);
  // Counts where the folder, the runs' captures or `by` are others. True if there is something new to see.
  bool update();
  bool busy() const { return task_ != nullptr; }
  // Those of the last computation that ended. While busy() they may be of another question.
  viz::AcceptanceBy shown_by() const { return shown_by_; }
  const std::vector<viz::NamedAcceptance>& methods() const { return methods_; }
  const std::string& problem() const { return problem_; }

  // A bar, by the method's and the group's index; again: none.
  void choose(std::size_t method, std::size_t group);
  bool is_chosen(std::size_t method, std::size_t group) const;
  bool has_choice() const { return chosen_place().has_value(); }
  std::string choice_words() const;  // "lookup, letters"; "" = none
  // The runs behind the chosen bar, the worst first.
  const std::vector<WorstRun>& behind() const;

 private:
  struct Choice {
    std::string method, group;  // names, which stay when there are more runs
    bool operator==(const Choice&) const = default;
  };
  std::optional<std::pair<std::size_t, std::size_t>> chosen_place() const;
  void take(const Later<std::vector<MethodAcceptance>>& counted);

  std::string folder_;  // of what is shown
  std::vector<StudyRow> runs_;
  std::string wanted_;                // folder and captures that are to be counted
  std::string asked_, asked_folder_;  // those that the task was started for
  viz::AcceptanceBy asked_by_ = viz::AcceptanceBy::kDepth, shown_by_ = viz::AcceptanceBy::kDepth;
  std::unique_ptr<Later<std::vector<MethodAcceptance>>> task_;
  std::vector<viz::NamedAcceptance> methods_;
  std::vector<std::vector<std::vector<WorstRun>>> behind_;  // by method and group
  std::string problem_;
  std::optional<Choice> choice_;
};

}  // namespace triescope::app
